import { toPlanJson, type RetentionPlanJson } from '../../wire/retention.ts';
import { planOf, type PlannedTopic, type RetentionPlan } from '../../domain/retention/retention-plan.ts';
import { tierInForce, type Tier } from '../../domain/accounts/tiers.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Messages } from '../../ports/messages.ts';
import { readRetentionState } from '../../collections/retention-runs.ts';
import { topics } from '../../collections/topics.ts';
import { findUsers } from '../../collections/users.ts';
import { walkTopics } from '../topics/walk-topics.ts';

interface PlanDeps {
  readonly documents: Documents;
  readonly messages: Messages;
}

interface PlanOf {
  readonly upTo: number;
  readonly now: number;
  /** Topics that are left out, and what is held of them. */
  readonly except?: readonly string[] | undefined;
}

/** What the ports look up at once. */
const lookupsMax = 1_000;

/**
 * What would go if all that expired at or before the time were removed now. Costs as much as there is of that, and a look at
 * every topic. What expires or is removed meanwhile may be counted or not. Throws AppError `unavailable`.
 */
export async function planRetention(deps: PlanDeps, { upTo, now, except }: PlanOf): Promise<RetentionPlan> {
  const planned = await planTopics(deps, { upTo, now, except });
  return planOf(upTo, planned, planned.length === 0 ? new Map() : await countByTier(deps, now));
}

/** The topics of the plan alone: what has expired of each, and whose it is. */
export async function planTopics(
  { documents, messages }: PlanDeps,
  { upTo, now, except }: PlanOf,
): Promise<PlannedTopic[]> {
  const expired = await messages.expired(upTo, except);
  const owned = await findOwned(
    documents,
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
      messages: count,
      bytes,
    };
  });
}

/** The topics that exist, each with its owner's tier in force. */
export async function findOwned(
  documents: Documents,
  topicIds: readonly string[],
  now: number,
): Promise<Map<string, { topic: Topic; tier: Tier | null }>> {
  const found = (await inChunks(topicIds, (ids) => documents.getMany(topics, ids))).flat();
  const tierOf = await findTiers(documents, found, now);
  return new Map(found.map((topic) => [topic.id, { topic, tier: tierOf.get(topic.ownerId) ?? null }]));
}

/** The plan as the operator is shown it, with at most `limit` of its topics. */
export async function describePlan(
  deps: PlanDeps,
  { upTo, now, limit }: { upTo: number; now: number; limit: number },
): Promise<RetentionPlanJson> {
  const plan = await planRetention(deps, { upTo, now });
  const state = await readRetentionState(deps.documents);
  const oldestKept = await findOldestKept(
    deps,
    plan.topics.slice(0, limit).map(({ topicId }) => topicId),
    upTo,
  );
  return toPlanJson(plan, { state, oldestKept, limit });
}

/** When the oldest message that each of the topics keeps was published. */
async function findOldestKept(
  { messages }: PlanDeps,
  topicIds: readonly string[],
  upTo: number,
): Promise<Map<string, number>> {
  const found = await inChunks(topicIds, (ids) => messages.oldestKept(ids, upTo));
  return new Map(found.flatMap((oldest) => [...oldest]));
}

/** How many messages the topics of each tier have. */
async function countByTier({ documents, messages }: PlanDeps, now: number): Promise<Map<Tier, number>> {
  const counts = new Map<Tier, number>();
  for await (const page of walkTopics(documents)) {
    const tierOf = await findTiers(documents, page, now);
    const stats = (
      await inChunks(
        page.map(({ id }) => id),
        (ids) => messages.topicStats(ids),
      )
    ).flatMap((some) => [...some]);
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

async function inChunks<T>(ids: readonly string[], look: (some: readonly string[]) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += lookupsMax) found.push(await look(ids.slice(at, at + lookupsMax)));
  return found;
}
