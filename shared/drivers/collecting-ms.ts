import type { CollectTimes } from '../ports/event-log.ts';

/** How long later records are collected after this many records, in milliseconds. */
export function collectingMs({ baseMs, perRecordMs, maxMs }: CollectTimes, records: number): number {
  return Math.min(maxMs, baseMs + perRecordMs * records);
}
