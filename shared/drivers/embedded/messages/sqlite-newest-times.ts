import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { clockSkewMs, type TopicMark } from '../../../ports/messages/message-reads.ts';
import type { Messages } from '../../../ports/messages/messages.ts';
import { prepareArrays } from './sqlite-message-rows.ts';

/** Newest messages scanned first, because usually few are after the mark. */
const firstScanMax = 16;
/** Marks per step, in less than a millisecond if they are near the end. */
const marksPerStep = 50;

type Page = Parameters<Messages['timesAfter']>[1];

/** The times after the mark of the scanned messages, how many were scanned, and the earliest of their times. */
type Scan = readonly [times: string, scanned: number, oldest: number | null];

/** Implements the port's `timesAfter` in steps, so that publishes and reads can run in between. */
export function sqliteNewestTimes(db: DatabaseSync): Messages['timesAfter'] {
  const newest = prepareArrays(
    db,
    `
    SELECT json_group_array(timestamp) FILTER (WHERE isCounted), count(*), min(timestamp) FROM (
      SELECT m.timestamp, (m.timestamp > ?2 AND m.deleted_at IS NULL AND m.expires_at > ?3) AS isCounted
      FROM topic_stats t CROSS JOIN messages m ON m.topic = t.topic
      WHERE t.topic_id = ?1 AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?4)`,
  );
  const scan = ({ topicId, after }: TopicMark, { now, max }: Page): Scan =>
    newest.get(topicId, after, now, max) as unknown as Scan;
  const timesOf = (mark: TopicMark, page: Page): number[] => {
    const first = scan(mark, { ...page, max: Math.min(firstScanMax, page.max) });
    const [times] =
      first[1] < firstScanMax || page.max <= firstScanMax || first[2]! < mark.after - clockSkewMs
        ? first
        : scan(mark, page);
    return (JSON.parse(times) as number[]).sort((a, b) => b - a);
  };
  return async (marks, page) => {
    const times: number[][] = [];
    for (const [index, mark] of marks.entries()) {
      if (index % marksPerStep === 0 && index > 0) await setImmediate();
      times.push(timesOf(mark, page));
    }
    return times;
  };
}
