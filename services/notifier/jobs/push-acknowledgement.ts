import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { acknowledgedJob, pushQueues, type AcknowledgedJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { acknowledgedContent } from '../sending/push-payload.ts';
import { nextRound, sendUnrecorded } from '../sending/send-unrecorded.ts';

/**
 * Pushes to each device that received some page of the message, except the one that acknowledged it, who took it:
 * silently and with the same collapse ID, so that it replaces the notification. Processes the rows of the ledger page
 * by page; devices of an earlier page of the escalation have their notification already. Does nothing if the
 * acknowledgement was withdrawn.
 */
export async function pushAcknowledgement(deps: PushDeps, job: AcknowledgedJob): Promise<void> {
  const { engine, limits } = deps;
  const [escalation, message, topic] = await Promise.all([
    engine.documents.get(escalations, job.messageId),
    engine.messages.find(job.messageId),
    engine.documents.get(topics, job.topicId),
  ]);
  const acknowledgement = escalation?.acknowledgement;
  if (escalation === null || acknowledgement?.at !== job.acknowledgedAt || message === null || topic === null) return;
  if (message.isDeleted || message.expiresAt <= deps.clock()) return;
  const keys = ledgerKeys(escalation);
  const key = keys[job.pageIndex];
  if (key === undefined) return;
  const { deviceIds } = job;
  const limit = deviceIds?.length ?? limits.pageSize;
  const rows = await engine.deliveries.find(
    key,
    deviceIds === undefined ? { limit, ...(job.after === null ? {} : { after: job.after }) } : { deviceIds, limit },
  );
  if (deviceIds === undefined) {
    const isPageOver = rows.length < limit;
    await addJob(deps, {
      ...job,
      ...(isPageOver ? { pageIndex: job.pageIndex + 1, after: null } : { after: rows.at(-1)!.deviceId }),
    });
  }
  const earlier = await sentBefore(deps, keys.slice(0, job.pageIndex), rows);
  const reached = rows.filter(({ deviceId }) => deviceId !== escalation.ackDeviceId && !earlier.has(deviceId));
  const again = await sendTo(deps, { message, topic, acknowledgement }, reached);
  const next = nextRound(deps, job.round);
  if (again.length > 0 && next !== null)
    await addJob(deps, { ...job, deviceIds: again, round: next.round }, next.delayMs);
}

/** The keys of the pages in the ledger, that of the first push first. */
const ledgerKeys = ({ id, pages }: Escalation): string[] => [id, ...pages.map((page) => ledgerKey(id, page))];

const addJob = (
  { engine: { jobQueue } }: PushDeps,
  { kind: _, ...page }: AcknowledgedJob,
  delayMs?: number,
): Promise<void> => jobQueue.add(pushQueues.normal, [acknowledgedJob(page, delayMs)]);

/** Returns those of the rows' devices that an earlier page reached. */
async function sentBefore(
  { engine: { deliveries } }: PushDeps,
  keys: readonly string[],
  rows: readonly Delivery[],
): Promise<Set<string>> {
  const deviceIds = rows.map(({ deviceId }) => deviceId);
  const found = new Set<string>();
  for (const key of deviceIds.length === 0 ? [] : keys)
    for (const { deviceId, status } of await deliveries.find(key, { deviceIds, limit: deviceIds.length }))
      if (status === 'sent' || status === 'pending') found.add(deviceId);
  return found;
}

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
