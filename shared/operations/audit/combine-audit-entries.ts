import { createHash } from 'node:crypto';
import { auditEntries, auditOrigins } from '../../collections/audit-log.ts';
import type { AuditEntry, AuditOrigin } from '../../domain/audit/audit-entry.ts';
import { write, type Documents, type New, type Write } from '../../ports/documents.ts';

/** Entries are compared within aligned periods of this length. */
const periodMs = 60_000;
/** Identical entries of a period that are stored separately. */
const separateMax = 10;
/** The maximum number of distinct actions that are counted, to limit memory. Beyond it, counting starts again. */
const kindsMax = 10_000;

/**
 * Documents whose commits combine repeated audit entries: from the eleventh identical action of a minute on, one entry
 * with a count stands for all. Otherwise an account could fill the log with a loop. Each node counts for itself; the
 * combined entry is shared by all nodes and stored in the commit of each action.
 */
export function combineAuditEntries(documents: Documents, clock: () => number): Documents {
  let period = 0;
  const seen = new Map<string, number>();

  const isRepeated = (key: string, now: number): boolean => {
    if (now - period >= periodMs || seen.size >= kindsMax) {
      period = now - (now % periodMs);
      seen.clear();
    }
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count > separateMax;
  };

  const combined = (writes: readonly Write[]): readonly Write[] => {
    const origins = new Map(insertsInto<AuditOrigin>(writes, auditOrigins.name).map((origin) => [origin.id, origin]));
    const newIds = new Map<string, string>();
    const now = clock();
    for (const entry of insertsInto<AuditEntry>(writes, auditEntries.name)) {
      const key = keyOf(entry, origins.get(entry.id));
      if (isRepeated(key, now)) newIds.set(entry.id, idOf(key, period));
    }
    return newIds.size === 0 ? writes : writes.map((one) => accumulated(one, newIds));
  };

  return { ...documents, commit: (writes) => documents.commit(combined(writes)) };
}

function insertsInto<T extends { readonly id: string; readonly version: number }>(
  writes: readonly Write[],
  name: string,
): New<T>[] {
  return writes.flatMap((one) =>
    one.kind === 'insert' && one.collection.name === name ? [one.document as unknown as New<T>] : [],
  );
}

/** Two entries are identical if all fields except the ID and the time are equal. */
function keyOf(entry: New<AuditEntry>, origin: New<AuditOrigin> | undefined): string {
  const { id: _id, at: _at, ...fields } = entry;
  return JSON.stringify([fields, origin?.address, origin?.userAgent, origin?.formerEmail]);
}

/** Returns a UUID of version 8, which sorts by the period like those of version 7. */
function idOf(key: string, period: number): string {
  const time = period.toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(`${period} ${key}`).digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-8${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

function accumulated(one: Write, newIds: ReadonlyMap<string, string>): Write {
  if (one.kind !== 'insert') return one;
  const id = newIds.get(one.document.id);
  if (id === undefined) return one;
  if (one.collection.name === auditEntries.name)
    return write.accumulate(auditEntries, { ...(one.document as unknown as AuditEntry), id }, 'count');
  if (one.collection.name === auditOrigins.name)
    return write.accumulate(auditOrigins, { ...(one.document as unknown as AuditOrigin), id }, null);
  return one;
}
