import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { replaceJob, type ReplaceJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { replacementContent } from '../sending/push-payload.ts';
import { queueOfPage, readReached } from './read-reached.ts';
import { nextRound, sendUnrecorded } from '../sending/send-unrecorded.ts';

/** The longest delay of the store, which lags while it is down. */
const waitForChangeMs = 60 * 60_000;
const waitPauseMs = 1_000;

/**
 * Pushes an edited or deleted message again to the devices that received it according to the ledger, with the same
 * collapse ID and without a sound, so that the device replaces the notification. Users who lost access do not get the
 * edited text. The ledger does not change, because the message was delivered before. Processes all rows page by page.
 */
export async function replacePushes(deps: PushDeps, job: ReplaceJob): Promise<void> {
  const { engine } = deps;
  const message = await loadChanged(deps, job);
  const topic = await engine.documents.get(topics, job.topicId);
  if (message === null || topic === null) return;
  const escalation = await engine.documents.get(escalations, job.messageId);
  const { rows, next: place } = await readReached(
    deps,
    { messageId: message.id, escalation },
    { ...job, pageIndex: job.pageIndex ?? 0 },
  );
  if (place !== null) await addJob(deps, { ...job, ...place });
  const again = await replaceEach(deps, { message, topic }, rows);
  const next = nextRound(deps, job.round);
  if (again.length > 0 && next !== null)
    await addJob(deps, { ...job, deviceIds: again, round: next.round }, next.delayMs);
}

const addJob = (deps: PushDeps, { kind: _, ...page }: ReplaceJob, delayMs?: number): Promise<void> =>
  deps.engine.jobQueue.add(queueOfPage(deps, page), [replaceJob(page, delayMs)]);

/**
 * Null if the message expired or changed again; that change has its own job. Throws RetryLater while the change is not
 * stored.
 */
async function loadChanged(
  { engine, clock }: PushDeps,
  { messageId, changedAt }: ReplaceJob,
): Promise<StoredMessage | null> {
  const message = await engine.messages.find(messageId);
  // A deletion is final; a later edit has no effect.
  if (message?.isDeleted === true && message.deletedAt !== changedAt) return null;
  const storedAt = message === null ? 0 : (message.deletedAt ?? message.editedAt ?? 0);
  if (storedAt < changedAt) {
    if (clock() - changedAt > waitForChangeMs) return null;
    throw new RetryLater(waitPauseMs, 'the change is not stored yet');
  }
  return message === null || message.expiresAt <= clock() || storedAt > changedAt ? null : message;
}

/** Resolves with the devices to retry: those with temporary errors and those with a push in progress. */
async function replaceEach(
  deps: PushDeps,
  { message, topic }: { message: StoredMessage; topic: Topic },
  rows: readonly Delivery[],
): Promise<string[]> {
  const sent = rows.filter(({ status }) => status === 'sent');
  const busy = rows.filter(({ status }) => status === 'pending').map(({ deviceId }) => deviceId);
  const found = (
    await deps.engine.documents.getMany(
      devices,
      sent.map(({ deviceId }) => deviceId),
    )
  ).filter(({ isActive }) => isActive);
  const readers = message.isDeleted
    ? null
    : await findReaders(deps.engine.documents, topic, [...new Set(found.map(({ userId }) => userId))]);
  const reached = found.filter(({ userId }) => readers?.has(userId) ?? true);
  const sentNow = await sendUnrecorded(deps, reached, ({ payloadBytesMax }) => ({
    content: replacementContent(message, topic, { bytesMax: payloadBytesMax, now: deps.clock() }),
    level: 'low',
    sound: null,
    vibrates: false,
    badge: null,
    collapseId: message.id,
    expiresAt: message.expiresAt,
  }));
  return [...busy, ...sentNow.again];
}
