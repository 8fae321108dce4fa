import { raisedPage, restartEscalation, type PageName } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { hasEscalation } from '@tocsin/shared/domain/messages/message.ts';
import { newEscalation, policyFor, timesOf } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { UniqueKeyViolation, type Documents } from '@tocsin/shared/ports/documents.ts';
import { escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { pagesMax } from './take-due-pages.ts';

interface FollowDeps {
  readonly documents: Documents;
  readonly clock: () => number;
}

/** Messages that are processed concurrently. */
const concurrency = 50;

/**
 * Starts or ends the escalations of edited messages: a replacement can make a message require an acknowledgement, or no
 * longer require one. An acknowledged message stays acknowledged. Returns the pages of the records that started one:
 * these push the message with sound to every device that matches. Stored when it resolves; a repeated batch returns the
 * same pages.
 */
export async function followEdits(
  deps: FollowDeps,
  records: readonly LogRecord[],
): Promise<ReadonlyMap<LogRecord, PageName>> {
  const edits = records.filter(({ type }) => type === 'message_edited');
  const ofMessages = [...Map.groupBy(edits, ({ message }) => message.id).values()];
  const pages = new Map<LogRecord, PageName>();
  for (let from = 0; from < ofMessages.length; from += concurrency)
    await Promise.all(
      ofMessages.slice(from, from + concurrency).map(async (ofMessage) => {
        // In order, because an end and a start within a batch are a new escalation.
        for (const record of ofMessage) {
          const page = await followEdit(deps, record);
          if (page !== null) pages.set(record, page);
        }
      }),
    );
  return pages;
}

/** Resolves with the page of an escalation that this record started; null if it started none. */
function followEdit({ documents, clock }: FollowDeps, record: LogRecord): Promise<PageName | null> {
  const { message } = record;
  return retryStale(
    async () => {
      const stored = await documents.get(escalations, message.id);
      if (stored === null && !hasEscalation(message)) return null;
      if (stored !== null && stored.isRequired === message.requiresAck)
        return wasStartedBy(stored, record) ? raisedPage(stored.state) : null;
      const now = clock();
      const policy = policyFor(await documents.get(topics, message.topicId), message.priority);
      const before = stored ?? newEscalation(message, policy, { now, ackKey: makeSecret() });
      const isStarted = message.requiresAck && before.acknowledgement === null;
      const state = isStarted && stored !== null ? restartEscalation(stored.state, now) : before.state;
      const entry = { ...raisedPage(state), at: record.timestamp, skipped: null };
      const pages = isStarted ? [...before.pages, entry].slice(-pagesMax) : before.pages;
      const required = { isRequired: message.requiresAck, state, unrecordedAt: before.unrecordedAt };
      const set = { ...required, ...timesOf(policy, required), pages, plannedId: null };
      await (stored === null
        ? documents.insert(escalations, { ...before, ...set })
        : documents.update(escalations, stored, set));
      return isStarted ? raisedPage(state) : null;
    },
    (error) => error instanceof UniqueKeyViolation,
  );
}

function wasStartedBy({ isOpen, pages, state }: Escalation, { timestamp }: LogRecord): boolean {
  return isOpen && pages.some(({ number, round, at }) => number === 0 && round === state.round && at === timestamp);
}
