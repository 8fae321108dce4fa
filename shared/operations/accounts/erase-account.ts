import { topicChange, type Change } from '../../domain/change.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import type { Deliveries } from '../../ports/deliveries.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';
import { accountErasures, type AccountErasure } from '../../collections/account-erasures.ts';
import { addressChanges } from '../../collections/address-changes.ts';
import { eraseAuditOrigins } from '../../collections/audit-log.ts';
import { consents } from '../../collections/consents.ts';
import { apiKeys, loginSessions, topicTokens } from '../../collections/credentials.ts';
import { devices } from '../../collections/devices-collection.ts';
import { digestItems, digests } from '../../collections/push/digests.ts';
import { identities } from '../../collections/identities.ts';
import { knownNetworks } from '../../collections/known-networks.ts';
import { logConsumers } from '../../collections/log-consumers.ts';
import { mailTokens } from '../../collections/mail-tokens.ts';
import { quotaGuards } from '../../collections/quota-guards.ts';
import { registrations } from '../../collections/registrations.ts';
import { forgetInArchive } from '../archive/forget-in-archive.ts';
import { removeFound } from '../../documents/remove-found.ts';
import { removeSinksOf } from '../sinks/remove-sink.ts';
import { forgetAcknowledgements } from '../escalation/forget-acknowledgements.ts';
import { removeFromPolicies } from '../escalation/remove-from-policies.ts';
import { eraseScheduledOf } from '../messages/erase-scheduled.ts';
import { removeTeamOfNobody, type RemoveTeamDeps } from '../teams/remove-team.ts';
import { removeTopicToken } from '../credentials/remove-topic-token.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { runBatches, type RemoveBatch } from '../../documents/run-batches.ts';
import { subscriptions, teamSubscriptionMembers } from '../../collections/subscriptions-collection.ts';
import { teamInvites } from '../../collections/team-invites.ts';
import { teamMembers, teams } from '../../collections/teams.ts';
import { removeTopicWrites, type ErasureReport, type ErasureRun } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

export interface EraseAccountDeps extends RemoveTeamDeps {
  readonly deliveries: Pick<Deliveries, 'removeOfUser'>;
  /** Null in a request, which cannot wait until all messages are read; the report then has more. */
  readonly messages: Pick<MessageRetention, 'forgetAccount'> | null;
  /** Null without an archive. */
  readonly archive: ArchiveStore | null;
}

/** Documents per commit, so that a commit does not block others. */
const batchSize = 100;
const rowsAtOnce = 500;

/**
 * Erases the data of a deleted account in at most `batchesMax` batches: topics first, to free their names, then teams
 * and everything else that refers to the account. Clean-ups of the topics remove the messages. Idempotent and safe to
 * run concurrently; resumes after a crash. The tombstone stays until the first complete run that is `lateWritesMs`
 * after the deletion. A topic that was put under legal hold in the meantime is kept, with the tombstone, until the hold
 * ends. The last run also rewrites archived messages that name the account. Does nothing without a tombstone. Throws
 * `unavailable`.
 */
export async function eraseAccount(deps: EraseAccountDeps, userId: string, at: ErasureRun): Promise<ErasureReport> {
  const { documents } = deps;
  const erasure = await documents.get(accountErasures, userId);
  if (erasure === null) return { removed: 0, hasMore: false, keptObjects: 0 };
  if ((await documents.get(users, userId)) !== null)
    throw new Error(`account ${userId} still exists and cannot be erased`);
  const batches = await runBatches(
    [
      () => removeTopics(deps, userId),
      () => removeTeams(deps, userId),
      () => leaveTeams(deps, userId),
      () => unsubscribe(documents, userId),
      () => removeTokens(deps, userId),
      () => removeFromPolicies(documents, userId, batchSize),
      () => forgetAcknowledgements(documents, userId, batchSize),
      () => removeSinksOf(documents, userId),
      ...ownDocuments(documents, erasure),
      () => eraseScheduledOf(documents, userId, { limit: batchSize, now: at.now }),
      () => deps.deliveries.removeOfUser(userId, rowsAtOnce),
    ],
    at.batchesMax,
  );
  const report = { ...batches, keptObjects: 0 };
  if (report.hasMore || deps.messages === null) return { ...report, hasMore: true };
  await deps.messages.forgetAccount(userId);
  if (erasure.requestedAt + at.lateWritesMs > at.now) return report;
  if ((await documents.count(topics, { index: 'byOwner', equals: { ownerId: userId } })) > 0) return report;
  // Once, because it reads the whole archive.
  const keptObjects = deps.archive === null ? 0 : await forgetInArchive(deps.archive, userId, deps.makeId);
  await documents.commit([write.remove(quotaGuards, userId), write.remove(accountErasures, userId)]);
  return { ...report, keptObjects };
}

/** Returns accounts whose erasure is not finished, oldest first, for the sweep that covers lost jobs. */
export async function findErasures(documents: Documents, limit: number): Promise<string[]> {
  const found = await documents.find(accountErasures, { index: 'byRequest', equals: {}, limit });
  return found.map(({ id }) => id);
}

/** Collections whose documents refer to the account in one field and have no dependents. */
function ownDocuments(documents: Documents, { id: userId, email, requestedAt }: AccountErasure): RemoveBatch[] {
  const limit = batchSize;
  return [
    () => removeFound(documents, apiKeys, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, loginSessions, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, devices, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, digestItems, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, digests, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, logConsumers, { index: 'byOwner', equals: { ownerId: userId }, limit }),
    () => removeFound(documents, teamSubscriptionMembers, { index: 'byMember', equals: { userId }, limit }),
    () => removeFound(documents, teamInvites, { index: 'byInviter', equals: { invitedById: userId }, limit }),
    // Later invites belong to the next owner of the address.
    () => removeFound(documents, teamInvites, { index: 'byEmail', equals: { email }, to: requestedAt, limit }),
    () => removeFound(documents, identities, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, knownNetworks, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, consents, { index: 'byUser', equals: { userId }, limit }),
    () => removeFound(documents, registrations, { index: 'byEmail', equals: { email }, to: requestedAt, limit }),
    () => removeFound(documents, mailTokens, { index: 'current', equals: { userId }, limit }),
    () => removeFound(documents, addressChanges, { index: 'byUser', equals: { userId }, limit }),
    () => eraseAuditOrigins(documents, userId),
  ];
}

/** Consecutive writes of one kind to one collection become one MongoDB command. */
const inGroups = (writes: readonly Write[]): Write[] =>
  [...Map.groupBy(writes, ({ kind, collection }) => `${kind} ${collection.name}`).values()].flat();

/** The topic's clean-up removes its messages, tokens and subscriptions. */
async function removeTopics(
  { documents, makeId, clock, onStep, audit }: EraseAccountDeps,
  ownerId: string,
): Promise<number> {
  const removed = await retryStale(async () => {
    const found = await documents.find(topics, {
      index: 'byOwnerHeld',
      equals: { ownerId, isHeld: false },
      limit: batchSize,
    });
    const writes = found.flatMap((topic) => removeTopicWrites(topic, { id: makeId(), now: clock() }));
    const recorded = found.flatMap((topic) =>
      audit({ action: 'topic.deleted', subject: topic, within: { type: 'account', id: ownerId }, details: {} }),
    );
    if (found.length > 0) await documents.commit([...inGroups(writes), ...recorded]);
    return found;
  });
  if (removed.length > 0) {
    await onStep({
      changes: removed.map(topicChange),
      cleanups: removed.map(({ id }) => ({ topicId: id, kind: 'erase' })),
    });
  }
  return removed.length;
}

async function removeTeams(deps: EraseAccountDeps, ownerId: string): Promise<number> {
  const found = await deps.documents.find(teams, { index: 'byOwner', equals: { ownerId }, limit: batchSize });
  for (const team of found) await removeTeamOfNobody(deps, team);
  return found.length;
}

async function leaveTeams({ documents, onStep, audit }: EraseAccountDeps, userId: string): Promise<number> {
  const found = await retryStale(async () => {
    const members = await documents.find(teamMembers, { index: 'byUser', equals: { userId }, limit: batchSize });
    const recorded = members.flatMap(({ teamId }) =>
      audit({
        action: 'team.member_removed',
        subject: { id: userId },
        within: { type: 'team', id: teamId },
        details: {},
      }),
    );
    if (members.length > 0)
      await documents.commit([
        ...members.map(({ id, version }) => write.remove(teamMembers, id, version)),
        ...recorded,
      ]);
    return members;
  });
  if (found.length === 0) return 0;
  const changes = found.map(({ teamId }): Change => ({ kind: 'member', teamId, userId }));
  await onStep({ changes, cleanups: [] });
  return found.length;
}

/**
 * Removes tokens that the account created for topics of others. Tokens of its own topics are removed with the topics.
 */
async function removeTokens({ documents, onStep, audit }: EraseAccountDeps, createdBy: string): Promise<number> {
  const found = await documents.find(topicTokens, { index: 'byCreator', equals: { createdBy }, limit: batchSize });
  const existing = new Set(
    (
      await documents.getMany(
        topics,
        found.map(({ topicId }) => topicId),
      )
    ).map(({ id }) => id),
  );
  const ofOthers = found.filter(({ topicId }) => existing.has(topicId));
  for (const token of ofOthers) await removeTopicToken(documents, token, audit);
  await documents.commit(
    found.filter(({ topicId }) => !existing.has(topicId)).map(({ id }) => write.remove(topicTokens, id)),
  );
  if (found.length > 0)
    await onStep({
      changes: ofOthers.map(({ secretHash }): Change => ({ kind: 'topic-token', secretHash })),
      cleanups: [],
    });
  return found.length;
}

/** Removes each subscription and decrements its topic's count once. */
function unsubscribe(documents: Documents, userId: string): Promise<number> {
  return retryStale(async () => {
    const found = await documents.find(subscriptions, { index: 'byUser', equals: { userId }, limit: batchSize });
    if (found.length > 0) {
      await documents.commit(
        found.flatMap(({ id, version, topicId }) => [
          write.remove(subscriptions, id, version),
          write.increment(topics, topicId, { subscriberCount: -1 }),
        ]),
      );
    }
    return found.length;
  });
}
