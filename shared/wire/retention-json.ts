import { isoOrNull, toIso } from '../domain/to-iso.ts';
import type { MessageVolume } from '../domain/messages/message-volume.ts';
import { needsConfirmation, type RetentionPlan } from '../domain/retention/retention-plan.ts';
import type { RetentionRun, RetentionState, WaitingPlan } from '../domain/retention/retention-run.ts';

const volume = ({ messages, bytes }: MessageVolume) => ({ messages, bytes });

/** A plan as the operator is shown it: at most `limit` of its topics, and when the oldest message that each keeps was published. */
export function toPlanJson(
  plan: RetentionPlan,
  { state, oldestKept, limit }: { state: RetentionState; oldestKept: ReadonlyMap<string, number>; limit: number },
) {
  return {
    up_to: toIso(plan.upTo),
    ...volume(plan),
    needs_confirmation: needsConfirmation(plan),
    held: volume(plan.held),
    tiers: plan.tiers.map((one) => ({ tier: one.tier, ...volume(one), of_messages: one.ofMessages })),
    topics: plan.topics.slice(0, limit).map((topic) => ({
      topic_id: topic.topicId,
      topic: topic.name,
      tier: topic.tier,
      retention_days: topic.retentionDays,
      legal_hold: topic.isHeld,
      ...volume(topic),
      oldest_kept: isoOrNull(oldestKept.get(topic.topicId) ?? null),
    })),
    topic_count: plan.topics.length,
    ...toStateJson(state),
  };
}

/** Whether messages expire, and what waits for the operator. */
export function toStateJson({ pausedAt, reason, waiting, confirmedUpTo }: RetentionState) {
  return {
    paused_at: isoOrNull(pausedAt),
    pause_reason: reason,
    waiting: waiting === null ? null : toWaitingJson(waiting),
    confirmed_up_to: isoOrNull(confirmedUpTo),
  };
}

function toWaitingJson(waiting: WaitingPlan) {
  return {
    up_to: toIso(waiting.upTo),
    since: toIso(waiting.since),
    ...volume(waiting),
    tiers: waiting.tiers.map((one) => ({ tier: one.tier, ...volume(one), of_messages: one.ofMessages })),
  };
}

/** The report of a run. */
export function toRunJson(run: RetentionRun) {
  return {
    id: run.id,
    started_by: run.startedBy,
    started_at: toIso(run.startedAt),
    ended_at: isoOrNull(run.endedAt),
    duration_ms: run.endedAt === null ? null : run.endedAt - run.startedAt,
    up_to: toIso(run.upTo),
    outcome: run.outcome,
    planned: volume(run.planned),
    removed: volume(run),
    tiers: run.tiers.map((one) => ({ tier: one.tier, ...volume(one) })),
    topics: run.topics.map((one) => ({ topic_id: one.topicId, topic: one.name, tier: one.tier, ...volume(one) })),
    interruptions: run.interruptions,
  };
}
