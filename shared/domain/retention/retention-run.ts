import type { MessageVolume } from '../messages/message-volume.ts';
import type { PlannedTier } from './retention-plan.ts';
import type { Tier } from '../accounts/tiers.ts';

/** Who asked for a run: the schedule, or an operator through the interface or the command. */
export type RunStarter = 'schedule' | 'api' | 'command';

/** An operator's wish to have everything removed that expired at or before a time. */
export interface RunRequest {
  /** The id that the run's report gets. */
  readonly id: string;
  readonly upTo: number;
  readonly startedBy: Exclude<RunStarter, 'schedule'>;
}

/**
 * - `running`: not at its end; its job goes on with it, or the next slot where that job's worker died.
 * - `done`: nothing of its plan is left.
 * - `waiting`: nothing was removed, the plan is so large that an operator has to confirm it.
 */
export type RunOutcome = 'running' | 'done' | 'waiting';

export interface RemovedOfTopic extends MessageVolume {
  readonly topicId: string;
  readonly name: string | null;
  readonly tier: Tier | null;
}

/** The report of a run that expired messages. Times are milliseconds since the epoch. */
export interface RetentionRun extends MessageVolume {
  readonly id: string;
  readonly version: number;
  readonly startedBy: RunStarter;
  readonly startedAt: number;
  /** Null before its end. */
  readonly endedAt: number | null;
  /** The plan's cut-off: only what expired at or before it goes. */
  readonly upTo: number;
  readonly planned: MessageVolume;
  readonly tiers: readonly (MessageVolume & { readonly tier: Tier })[];
  /** Those with the most, 100 at most. */
  readonly topics: readonly RemovedOfTopic[];
  readonly outcome: RunOutcome;
  /** How often its worker died: each time what went last may not be among the figures, 100 messages at most. */
  readonly interruptions: number;
  /** Until when it is its worker's. */
  readonly leasedUntil: number;
}

/** A plan that waits for an operator. */
export interface WaitingPlan extends MessageVolume {
  readonly upTo: number;
  readonly since: number;
  readonly tiers: readonly PlannedTier[];
}

/** Where the expiry of messages stands. */
export interface RetentionState {
  readonly id: string;
  readonly version: number;
  /** Null while it is not paused. */
  readonly pausedAt: number | null;
  /** Why it is paused. */
  readonly reason: string | null;
  /** The run that is under way. */
  readonly runId: string | null;
  readonly waiting: WaitingPlan | null;
  /** An operator agreed to the removal of all that expired at or before this time. */
  readonly confirmedUpTo: number | null;
}
