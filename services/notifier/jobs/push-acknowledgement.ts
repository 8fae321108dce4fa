import { acknowledgedJob, type AcknowledgedJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { acknowledgedContent } from '../sending/push-payload.ts';
import { queueOfPage, readReached } from './read-reached.ts';
import { nextRound, sendUnrecorded } from '../sending/send-unrecorded.ts';

/**
 * Pushes to each device that received some page of the message, except the one that acknowledged it, who took it:
 * silently and with the same collapse ID, so that it replaces the notification. Processes the rows of the ledger page
 * by page; devices of an earlier page of the escalation have their notification already. Does nothing if the
 * acknowledgement was withdrawn.
 */
export async function pushAcknowledgement(deps: PushDeps, job: AcknowledgedJob): Promise<void> {
  const { engine } = deps;
  const [escalation, message, topic] = await Promise.all([
    engine.documents.get(escalations, job.messageId),
    engine.messages.find(job.messageId),
    engine.documents.get(topics, job.topicId),
  ]);
  const acknowledgement = escalation?.acknowledgement;
  if (escalation === null || acknowledgement?.at !== job.acknowledgedAt || message === null || topic === null) return;
  if (message.isDeleted || message.expiresAt <= deps.clock()) return;
  const { rows, next: place } = await readReached(deps, { messageId: message.id, escalation }, job);
  if (place !== null) await addJob(deps, { ...job, ...place });
  const reached = rows.filter(({ deviceId }) => deviceId !== escalation.ackDeviceId);
  const again = await sendTo(deps, { message, topic, acknowledgement }, reached);
  const next = nextRound(deps, job.round);
  if (again.length > 0 && next !== null)
    await addJob(deps, { ...job, deviceIds: again, round: next.round }, next.delayMs);
}

const addJob = (deps: PushDeps, { kind: _, ...page }: AcknowledgedJob, delayMs?: number): Promise<void> =>
  deps.engine.jobQueue.add(queueOfPage(deps, page), [acknowledgedJob(page, delayMs)]);

/** Resolves with the devices to retry: those with temporary errors and those with a push in progress. */
async function sendTo(
  deps: PushDeps,
  of: { message: StoredMessage; topic: Topic; acknowledgement: Acknowledgement },
  rows: readonly Delivery[],
): Promise<string[]> {
  const { documents } = deps.engine;
  const busy = rows.filter(({ status }) => status === 'pending').map(({ deviceId }) => deviceId);
  const sent = rows.filter(({ status }) => status === 'sent').map(({ deviceId }) => deviceId);
  const found = (await documents.getMany(devices, sent)).filter(({ isActive }) => isActive);
  const readers = await findReaders(documents, of.topic, [...new Set(found.map(({ userId }) => userId))]);
  const { message } = of;
  const { again } = await sendUnrecorded(
    deps,
    found.filter(({ userId }) => readers.has(userId)),
    ({ payloadBytesMax }) => ({
      content: acknowledgedContent(message, of, { bytesMax: payloadBytesMax, now: deps.clock() }),
      level: 'low',
      sound: null,
      vibrates: false,
      badge: null,
      collapseId: message.id,
      expiresAt: message.expiresAt,
    }),
  );
  return [...busy, ...again];
}
