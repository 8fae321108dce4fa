import { digestPriorityMax } from '@tocsin/shared/domain/push/digest.ts';
import type { MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import { spanAt, type Span } from '@tocsin/shared/platform/daily-hours.ts';
import type { ActivityCount } from '@tocsin/shared/ports/messages/message-search.ts';

const dayMs = 86_400_000;

/** One day in UTC. Every message is pushed, quiet, collapsed, collected for a digest or filtered out. */
export interface PreviewDay {
  readonly start: number;
  messages: number;
  wouldPush: number;
  quiet: number;
  collapsed: number;
  digest: number;
  /** Pushes by priority 1 to 5. */
  readonly byPriority: [number, number, number, number, number];
}

/**
 * Computes the pushes of each day under the settings. `all` are the messages by day, `passing` those that the filter
 * accepts, by minute with quiet hours or a limit per minute. Beyond the limit the most urgent messages count as pushed.
 */
export function previewPushes(
  settings: Pick<MobileSettings, 'quietHours' | 'maxPerMinute' | 'digest'>,
  counted: { from: number; to: number; all: readonly ActivityCount[]; passing: readonly ActivityCount[] },
): PreviewDay[] {
  const days = new Map<number, PreviewDay>();
  for (let start = dayOf(counted.from); start <= counted.to; start += dayMs) {
    days.set(start, {
      start,
      messages: 0,
      wouldPush: 0,
      quiet: 0,
      collapsed: 0,
      digest: 0,
      byPriority: [0, 0, 0, 0, 0],
    });
  }
  for (const { start, count } of counted.all) days.get(dayOf(start))!.messages += count;
  const isQuiet = quietCheck(settings.quietHours);
  const pushedIn = new Map<number, number>();
  for (const { start, priority, count } of [...counted.passing].sort(
    (a, b) => b.priority - a.priority || a.start - b.start,
  )) {
    const day = days.get(dayOf(start))!;
    if (settings.digest !== null && priority <= digestPriorityMax) {
      day.digest += count;
      continue;
    }
    if (isQuiet(start, priority)) {
      day.quiet += count;
      continue;
    }
    const before = pushedIn.get(start) ?? 0;
    const pushed = Math.min(count, (settings.maxPerMinute ?? Infinity) - before);
    pushedIn.set(start, before + pushed);
    day.wouldPush += pushed;
    day.byPriority[priority - 1]! += pushed;
    day.collapsed += count - pushed;
  }
  return [...days.values()];
}

const dayOf = (time: number): number => Math.floor(time / dayMs) * dayMs;

function quietCheck(quietHours: MobileSettings['quietHours']): (time: number, priority: number) => boolean {
  if (quietHours === null) return () => false;
  const { allowPriority } = quietHours;
  // Quiet hours have whole minutes, so a minute lies completely inside or outside.
  let last: Span | null = null;
  const isWithin = (time: number): boolean => {
    if (last === null || time < last.start || time >= last.end) last = spanAt(quietHours, time);
    return last !== null;
  };
  return (time, priority) => (allowPriority === null || priority < allowPriority) && isWithin(time);
}
