import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { policyFor, timesOf } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { StaleVersion, type Documents } from '@tocsin/shared/ports/documents.ts';
import { escalationChanges, escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { findDue } from '@tocsin/shared/documents/find-due.ts';
import type { EscalationDeps } from './escalation-deps.ts';
import { takeDuePages } from './take-due-pages.ts';

/** Pages per sweep. */
const pagesMax = 100;
/** Escalations that are processed concurrently. */
const concurrency = 10;
/** Changed policies per sweep. */
const changesMax = 20;
const failurePauseMs = 60_000;

/**
 * Takes the pages of all escalations that are due. Any number of notifiers may sweep: the version of each escalation
 * decides which of them takes its pages. While the queue has no room, due pages wait. Costs three queries of an index
 * if nothing is due, however many are open.
 */
export async function sweepEscalations(deps: EscalationDeps): Promise<void> {
  const { documents } = deps.engine;
  await applyChanges(deps);
  for (let pages = 0; pages < pagesMax && !deps.closing.aborted; pages++) {
    const { found, isLast } = await findDue(documents, escalations, deps.clock());
    if (found.length === 0 || !(await deps.engine.jobQueue.hasRoom())) return;
    await takeAll(deps, found);
    if (isLast) return;
  }
}

async function takeAll(deps: EscalationDeps, found: readonly Escalation[]): Promise<void> {
  const { documents, messages } = deps.engine;
  const [messagesById, topicsById] = await Promise.all([
    messages.findMany(found.map(({ id }) => id)).then(byId),
    documents.getMany(topics, [...new Set(found.map(({ topicId }) => topicId))]).then(byId),
  ]);
  await eachOf(deps, found, (escalation) =>
    takeDuePages(deps, {
      escalation,
      message: messagesById.get(escalation.id) ?? null,
      topic: topicsById.get(escalation.topicId) ?? null,
    }),
  );
}

/** Gives open escalations of topics with a changed policy their new times. */
async function applyChanges(deps: EscalationDeps): Promise<void> {
  const { documents } = deps.engine;
  const changes = await documents.find(escalationChanges, { index: 'byTime', equals: {}, limit: changesMax });
  for (const { id, topicId } of changes) {
    await reschedule(deps, topicId);
    await documents.remove(escalationChanges, id);
  }
}

async function reschedule(deps: EscalationDeps, topicId: string): Promise<void> {
  const { documents, messages } = deps.engine;
  for await (const open of paginateIndex(documents, escalations, {
    index: 'byTopic',
    equals: { topicId, isOpen: true },
    valueOf: ({ openedAt }) => openedAt,
    next: (openedAt) => openedAt + 1,
  })) {
    deps.closing.throwIfAborted();
    const messagesById = byId(await messages.findMany(open.map(({ id }) => id)));
    await eachOf(deps, open, async ({ id }) => {
      const message = messagesById.get(id);
      // Also without new times: the new version stops a decision by the former policy.
      if (message !== undefined) await retryStale(() => updateTimes(documents, message));
    });
  }
}

async function updateTimes(documents: Documents, { id, topicId, priority }: StoredMessage): Promise<void> {
  const [escalation, topic] = await Promise.all([documents.get(escalations, id), documents.get(topics, topicId)]);
  if (escalation === null) return;
  await documents.update(escalations, escalation, timesOf(policyFor(topic, priority), escalation));
}

/**
 * Runs the work for each escalation, several concurrently. Ignores those that changed meanwhile; postpones those whose
 * work fails, so that they delay no others. Throws `unavailable`.
 */
async function eachOf(
  deps: EscalationDeps,
  all: readonly Escalation[],
  work: (escalation: Escalation) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < all.length; at += concurrency) {
    await Promise.all(
      all.slice(at, at + concurrency).map(async (escalation) => {
        try {
          await work(escalation);
        } catch (error) {
          if (error instanceof StaleVersion) return;
          if (isUnavailable(error)) throw error;
          deps.log.error({ err: error, messageId: escalation.id }, 'an escalation failed, retrying in a minute');
          await postpone(deps, escalation);
        }
      }),
    );
  }
}

async function postpone({ engine: { documents }, clock }: EscalationDeps, escalation: Escalation): Promise<void> {
  const now = clock();
  try {
    await documents.update(escalations, escalation, { dueAt: now + failurePauseMs, decidedAt: now });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
  }
}

function byId<T extends { readonly id: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.map((one) => [one.id, one]));
}
