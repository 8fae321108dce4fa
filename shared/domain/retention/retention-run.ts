import type { MessageVolume } from '../messages/message-volume.ts';
import type { PlannedTier } from './retention-plan.ts';
import type { Tier } from '../accounts/tiers.ts';

/** What triggered a run: the schedule, or an operator through the API or the CLI. */
export type RunStarter = 'schedule' | 'api' | 'command';

/** An operator's request to remove all messages that expired at or before a time. */
export interface RunRequest {
  /** ID of the run's report. */
  readonly id: string;
  readonly upTo: number;
  readonly startedBy: Exclude<RunStarter, 'schedule'>;
}

/**
 * - `running`: in progress. If its worker dies, the next slot resumes it.
 * - `done`: everything in the plan was removed.
 * - `archive_failed`: messages of topics with an archive remain; the next run archives and removes them.
 * - `waiting`: nothing was removed, because an operator must confirm the large plan.
 */
export type RunOutcome = 'running' | 'done' | 'archive_failed' | 'waiting';

/** Messages that a run archived before their removal. After an interruption it may archive some of them twice. */
export interface ArchivedVolume {
  readonly messages: number;
  readonly objects: number;
}

export const noneArchived: ArchivedVolume = { messages: 0, objects: 0 };

export interface RemovedOfTopic extends MessageVolume {
  readonly topicId: string;
  readonly name: string | null;
  readonly tier: Tier | null;
}

/** A consumer with unread records among those to remove. */
export interface ConsumerBehindOfRun {
  readonly topicId: string;
  /** Null if the topic no longer exists. */
  readonly topic: string | null;
  readonly consumer: string;
  readonly unread: number;
}

/** Consumers per report. */
const consumersMax = 100;

/** Returns the consumers with the most unread records. */
export const worstBehind = (behind: readonly ConsumerBehindOfRun[]): ConsumerBehindOfRun[] =>
  [...behind].sort((a, b) => b.unread - a.unread).slice(0, consumersMax);

/** The report of a removal run. Times are milliseconds since the epoch. */
export interface RetentionRun extends MessageVolume {
  readonly id: string;
  readonly version: number;
  readonly startedBy: RunStarter;
  readonly startedAt: number;
  /** Null while the run is in progress. */
  readonly endedAt: number | null;
  /** The cut-off: the run removes only messages that expired at or before it. */
  readonly upTo: number;
  readonly planned: MessageVolume;
  readonly tiers: readonly (MessageVolume & { readonly tier: Tier })[];
  /** The largest topics, at most 100. */
  readonly topics: readonly RemovedOfTopic[];
  /** The consumers that lose the most records, at most 100; null in reports of earlier versions. */
  readonly consumersBehind: readonly ConsumerBehindOfRun[] | null;
  /** Null in reports of earlier versions. */
  readonly archived: ArchivedVolume | null;
  readonly outcome: RunOutcome;
  /** How often its worker died. Each time, the counters may miss up to 100 removed messages. */
  readonly interruptions: number;
  /** Expiry of the worker's lease. */
  readonly leasedUntil: number;
}

/** A plan that waits for confirmation. */
export interface WaitingPlan extends MessageVolume {
  readonly upTo: number;
  readonly since: number;
  readonly tiers: readonly PlannedTier[];
}

/** The state of the removal of expired messages. */
export interface RetentionState {
  readonly id: string;
  readonly version: number;
  /** Null if not paused. */
  readonly pausedAt: number | null;
  /** The reason of the pause. */
  readonly reason: string | null;
  /** The current run. */
  readonly runId: string | null;
  readonly waiting: WaitingPlan | null;
  /** An operator confirmed the removal of all messages that expired at or before this time. */
  readonly confirmedUpTo: number | null;
  /** Until then, runs protect the unread records of consumers; null means they do not. */
  readonly protectedUntil: number | null;
}
