import { toPlanJson, type RetentionPlanJson } from '../../wire/retention.ts';
import { planOf, type PlannedTopic, type RetentionPlan } from '../../domain/retention/retention-plan.ts';
import { tierInForce, type Tier } from '../../domain/accounts/tiers.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import { protectsConsumers, readRetentionState } from '../../collections/retention-runs.ts';
import { topics } from '../../collections/topics.ts';
import { findUsers } from '../../collections/users.ts';
import { worstBehind, type ConsumerBehindOfRun } from '../../domain/retention/retention-run.ts';
import { protectedMs } from '../../domain/retention/protection.ts';
import { findProtectedTopics } from './protected-topics.ts';
import { consumersBehind, type ConsumerBehind } from './settle-consumers.ts';
import { paginateTopics } from '../topics/paginate-topics.ts';

interface PlanDeps {
  readonly documents: Documents;
  readonly messages: MessageRetention & Pick<MessageReads, 'topicStats' | 'countRecords'>;
}

interface PlanRequest {
  readonly upTo: number;
  readonly now: number;
  /** The held topics and their expired messages. */
  readonly except?: readonly string[] | undefined;
  /** Whether the unread records of consumers are protected. */
  readonly protects: boolean;
}

/** IDs per lookup: the limit of the ports. */
const idsPerLookup = 1_000;

/**
 * Plans the removal of all messages that expired at or before the time. The duration grows with the number of messages
 * and topics. The plan may or may not include concurrent changes. Throws AppError `unavailable`.
 */
export async function planRetention(deps: PlanDeps, { upTo, now, ...request }: PlanRequest): Promise<RetentionPlan> {
  return planWithTiers(deps, await planTopics(deps, { upTo, now, ...request }), { upTo, now });
}

/** Completes a plan of topics with the number of messages by tier, which decides whether it needs a confirmation. */
export async function planWithTiers(
  deps: PlanDeps,
  planned: readonly PlannedTopic[],
  { upTo, now }: Pick<PlanRequest, 'upTo' | 'now'>,
): Promise<RetentionPlan> {
  return planOf(upTo, planned, planned.length === 0 ? new Map() : await countByTier(deps, now));
}

/** Returns the topics of the plan with their expired messages and owners. */
export async function planTopics(
  deps: PlanDeps,
  { upTo, now, except, protects }: PlanRequest,
): Promise<PlannedTopic[]> {
  const all = await deps.messages.expired(upTo, except);
  const kept = protects
    ? await findProtectedTopics(
        deps,
        all.map(({ topicId }) => topicId),
        upTo,
      )
    : new Set<string>();
  const old = kept.size === 0 ? [] : await deps.messages.expired(upTo - protectedMs, except);
  const expired = [
    ...all.filter(({ topicId }) => !kept.has(topicId)),
    ...old.filter(({ topicId }) => kept.has(topicId)),
  ];
  const owned = await findOwned(
    deps.documents,
    expired.map(({ topicId }) => topicId),
    now,
  );
  return expired.map(({ topicId, messages: count, bytes }) => {
    const of = owned.get(topicId);
    return {
      topicId,
      name: of?.topic.name ?? null,
      tier: of?.tier ?? null,
      retentionDays: of?.topic.retentionDays ?? null,
      isHeld: of?.topic.isHeld ?? false,
      isProtected: kept.has(topicId),
      messages: count,
      bytes,
    };
  });
}

/** Returns the existing topics with their owners' effective tiers. */
export async function findOwned(
  documents: Documents,
  topicIds: readonly string[],
  now: number,
): Promise<Map<string, { topic: Topic; tier: Tier | null }>> {
  const found = (await mapChunks(topicIds, (ids) => documents.getMany(topics, ids))).flat();
  const tierOf = await findTiers(documents, found, now);
  return new Map(found.map((topic) => [topic.id, { topic, tier: tierOf.get(topic.ownerId) ?? null }]));
}

/** Formats the plan for the operator, with at most `limit` topics. */
export async function describePlan(
  deps: PlanDeps,
  { upTo, now, limit, isSet }: { upTo: number; now: number; limit: number; isSet: boolean },
): Promise<RetentionPlanJson> {
  const protects = await protectsConsumers(deps.documents, { isSet, now });
  const plan = await planRetention(deps, { upTo, now, protects });
  const state = await readRetentionState(deps.documents);
  const oldestKept = await findOldestKept(
    deps,
    plan.topics.slice(0, limit).map(({ topicId }) => topicId),
    upTo,
  );
  return toPlanJson(plan, { state, oldestKept, limit, behind: await findBehind(deps, plan) });
}

/** Returns the consumers that would lose the most records. */
const findBehind = (deps: PlanDeps, plan: RetentionPlan): Promise<ConsumerBehindOfRun[]> =>
  worstBehindOf(plan, (topicId, upTo) => consumersBehind(deps, topicId, upTo));

/** Looks the consumers up that lose records of the plan, topic by topic, and returns those that lose the most. */
export async function worstBehindOf(
  { topics: planned, upTo }: RetentionPlan,
  lookUp: (topicId: string, upTo: number) => Promise<readonly ConsumerBehind[]>,
): Promise<ConsumerBehindOfRun[]> {
  const behind: ConsumerBehindOfRun[] = [];
  for (const { topicId, name, isHeld, isProtected } of planned) {
    if (isHeld) continue;
    for (const { consumer, unread } of await lookUp(topicId, isProtected ? upTo - protectedMs : upTo))
      behind.push({ topicId, topic: name, consumer: consumer.name, unread });
  }
  return worstBehind(behind);
}

/** Returns the publish time of the oldest retained message per topic. */
async function findOldestKept(
  { messages }: PlanDeps,
  topicIds: readonly string[],
  upTo: number,
): Promise<Map<string, number>> {
  const found = await mapChunks(topicIds, (ids) => messages.oldestKept(ids, upTo));
  return new Map(found.flatMap((oldest) => [...oldest]));
}

/** Returns the number of messages per tier. */
async function countByTier({ documents, messages }: PlanDeps, now: number): Promise<Map<Tier, number>> {
  const counts = new Map<Tier, number>();
  for await (const page of paginateTopics(documents)) {
    const tierOf = await findTiers(documents, page, now);
    const stats = (
      await mapChunks(
        page.map(({ id }) => id),
        (ids) => messages.topicStats(ids),
      )
    ).flatMap((batch) => [...batch]);
    const countOf = new Map(stats.map(([topicId, { messageCount }]) => [topicId, messageCount]));
    for (const { id, ownerId } of page) {
      const tier = tierOf.get(ownerId);
      if (tier !== undefined) counts.set(tier, (counts.get(tier) ?? 0) + countOf.get(id)!);
    }
  }
  return counts;
}

async function findTiers(documents: Documents, of: readonly Topic[], now: number): Promise<Map<string, Tier>> {
  const ownerIds = [...new Set(of.map(({ ownerId }) => ownerId))];
  const owners = await findUsers(documents, ownerIds);
  return new Map(owners.map((owner) => [owner.id, tierInForce(owner, now)]));
}

async function mapChunks<T>(ids: readonly string[], lookUp: (batch: readonly string[]) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += idsPerLookup) found.push(await lookUp(ids.slice(at, at + idsPerLookup)));
  return found;
}
