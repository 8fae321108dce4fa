import { z } from 'zod';
import { tiers } from '../domain/accounts/tiers.ts';
import type { MessageVolume } from '../domain/messages/message-volume.ts';
import { needsConfirmation, type PlannedTier, type RetentionPlan } from '../domain/retention/retention-plan.ts';
import {
  noneArchived,
  type ConsumerBehindOfRun,
  type RetentionRun,
  type RetentionState,
  type WaitingPlan,
} from '../domain/retention/retention-run.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

const time = z.iso.datetime();
const volumeFields = { messages: z.int(), bytes: z.int().describe('UTF-8 bytes of texts and titles.') };
const tier = z.enum(tiers);
const plannedTier = z.object({
  tier,
  ...volumeFields,
  of_messages: z.int().describe('Number of all messages in the topics of this tier.'),
});
const stateFields = {
  paused_at: time.nullable(),
  pause_reason: z.string().nullable(),
  waiting: z
    .object({ up_to: time, since: time, ...volumeFields, tiers: z.array(plannedTier) })
    .nullable()
    .describe('The plan that needs confirmation.'),
  confirmed_up_to: time.nullable().describe('Set while a confirmed plan is not completed.'),
  consumers_protected_until: time
    .nullable()
    .describe('Until then, runs keep unread records of consumers. Null without a run that protects them.'),
};
const topicFields = {
  topic_id: z.string(),
  topic: z.string().nullable().describe('Name of the topic. Null if the topic no longer exists.'),
  tier: tier.nullable(),
  ...volumeFields,
};

const consumersBehind = z
  .array(z.object({ topic_id: z.string(), topic: z.string().nullable(), consumer: z.string(), unread: z.int() }))
  .describe('Consumers with unread records among these messages, at most 100, most unread first.');

/** Whether retention is paused, and the plan that needs confirmation. */
export const retentionStateSchema = z.object(stateFields).meta({ id: 'RetentionState' });

export const retentionPlanSchema = z
  .object({
    up_to: time,
    ...volumeFields,
    needs_confirmation: z.boolean(),
    held: z.object(volumeFields).describe('Expired messages that legal holds keep.'),
    tiers: z.array(plannedTier),
    topics: z
      .array(
        z.object({
          ...topicFields,
          retention_days: z.int().nullable().describe('The setting of the topic. Null: the limit of the tier applies.'),
          legal_hold: z.boolean(),
          oldest_kept: time.nullable(),
        }),
      )
      .describe('Largest first.'),
    topic_count: z.int(),
    consumers_behind: consumersBehind,
    ...stateFields,
  })
  .meta({ id: 'RetentionPlan' });

export const retentionRunSchema = z
  .object({
    id: z.string(),
    started_by: z.enum(['schedule', 'api', 'command']),
    started_at: time,
    ended_at: time.nullable(),
    duration_ms: z.int().nullable(),
    up_to: time,
    outcome: z.enum(['running', 'done', 'archive_failed', 'waiting']),
    planned: z.object(volumeFields),
    removed: z.object(volumeFields),
    archived: z.object({ messages: z.int(), objects: z.int() }),
    tiers: z.array(z.object({ tier, ...volumeFields })),
    topics: z.array(z.object(topicFields)).describe('The topics with the most messages in the plan, at most 100.'),
    consumers_behind: consumersBehind,
    interruptions: z.int().describe('How often the worker of the run died.'),
  })
  .meta({ id: 'RetentionRun' });

export type RetentionPlanJson = z.infer<typeof retentionPlanSchema>;
export type RetentionRunJson = z.infer<typeof retentionRunSchema>;
type StateJson = z.infer<typeof retentionStateSchema>;

/**
 * Returns the plan with at most `limit` topics. `oldestKept` maps topic IDs to the time of their oldest kept message.
 */
export function toPlanJson(
  plan: RetentionPlan,
  {
    state,
    oldestKept,
    limit,
    behind,
  }: {
    state: RetentionState;
    oldestKept: ReadonlyMap<string, number>;
    limit: number;
    behind: readonly ConsumerBehindOfRun[];
  },
): RetentionPlanJson {
  return {
    up_to: toIso(plan.upTo),
    ...toVolumeJson(plan),
    needs_confirmation: needsConfirmation(plan),
    held: toVolumeJson(plan.held),
    tiers: plan.tiers.map(toPlannedTierJson),
    topics: plan.topics.slice(0, limit).map((topic) => ({
      topic_id: topic.topicId,
      topic: topic.name,
      tier: topic.tier,
      retention_days: topic.retentionDays,
      legal_hold: topic.isHeld,
      ...toVolumeJson(topic),
      oldest_kept: isoOrNull(oldestKept.get(topic.topicId) ?? null),
    })),
    topic_count: plan.topics.length,
    consumers_behind: behind.map(toBehindJson),
    ...toStateJson(state),
  };
}

export function toStateJson({ pausedAt, reason, waiting, confirmedUpTo, protectedUntil }: RetentionState): StateJson {
  return {
    paused_at: isoOrNull(pausedAt),
    pause_reason: reason,
    waiting: waiting === null ? null : toWaitingJson(waiting),
    confirmed_up_to: isoOrNull(confirmedUpTo),
    consumers_protected_until: isoOrNull(protectedUntil),
  };
}

/** Returns the report of a run. */
export function toRunJson(run: RetentionRun): RetentionRunJson {
  return {
    id: run.id,
    started_by: run.startedBy,
    started_at: toIso(run.startedAt),
    ended_at: isoOrNull(run.endedAt),
    duration_ms: run.endedAt === null ? null : run.endedAt - run.startedAt,
    up_to: toIso(run.upTo),
    outcome: run.outcome,
    planned: toVolumeJson(run.planned),
    removed: toVolumeJson(run),
    archived: run.archived ?? noneArchived,
    tiers: run.tiers.map((one) => ({ tier: one.tier, ...toVolumeJson(one) })),
    topics: run.topics.map((one) => ({ topic_id: one.topicId, topic: one.name, tier: one.tier, ...toVolumeJson(one) })),
    consumers_behind: (run.consumersBehind ?? []).map(toBehindJson),
    interruptions: run.interruptions,
  };
}

function toWaitingJson(waiting: WaitingPlan): StateJson['waiting'] {
  return {
    up_to: toIso(waiting.upTo),
    since: toIso(waiting.since),
    ...toVolumeJson(waiting),
    tiers: waiting.tiers.map(toPlannedTierJson),
  };
}

const toPlannedTierJson = (planned: PlannedTier) => ({
  tier: planned.tier,
  ...toVolumeJson(planned),
  of_messages: planned.ofMessages,
});

const toBehindJson = ({ topicId, topic, consumer, unread }: ConsumerBehindOfRun) => ({
  topic_id: topicId,
  topic,
  consumer,
  unread,
});

const toVolumeJson = ({ messages, bytes }: MessageVolume) => ({ messages, bytes });
