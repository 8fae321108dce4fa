import { tiers } from '@tocsin/shared/domain/accounts/tiers.ts';
import { z } from 'zod';

const time = z.iso.datetime();
const volume = { messages: z.int(), bytes: z.int().describe('Of texts and titles in UTF-8.') };
const tier = z.enum(tiers);
const plannedTier = z.object({
  tier,
  ...volume,
  of_messages: z.int().describe("How many messages this tier's topics have in all."),
});
const state = {
  paused_at: time.nullable(),
  pause_reason: z.string().nullable(),
  waiting: z
    .object({ up_to: time, since: time, ...volume, tiers: z.array(plannedTier) })
    .nullable()
    .describe('The plan that waits for a confirmation.'),
  confirmed_up_to: time.nullable().describe('Set while a confirmed plan has yet to run to its end.'),
};
const ofTopic = {
  topic_id: z.string(),
  topic: z.string().nullable().describe('Its name; null once it is gone.'),
  tier: tier.nullable(),
  ...volume,
};

/** Whether messages are removed, and what waits for the operator. */
export const retentionStateSchema = z.object(state).meta({ id: 'RetentionState' });

export const retentionPlanSchema = z
  .object({
    up_to: time,
    ...volume,
    needs_confirmation: z.boolean(),
    held: z.object(volume).describe('What stays because of legal holds.'),
    tiers: z.array(plannedTier),
    topics: z
      .array(
        z.object({
          ...ofTopic,
          retention_days: z.int().nullable().describe('What the topic asks for; null: as long as the tier says.'),
          legal_hold: z.boolean(),
          oldest_kept: time.nullable(),
        }),
      )
      .describe('The largest first.'),
    topic_count: z.int(),
    ...state,
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
    outcome: z.enum(['running', 'done', 'waiting']),
    planned: z.object(volume),
    removed: z.object(volume),
    tiers: z.array(z.object({ tier, ...volume })),
    topics: z.array(z.object(ofTopic)).describe('Those with the most in the plan, 100 at most.'),
    interruptions: z.int().describe('How often its worker died.'),
  })
  .meta({ id: 'RetentionRun' });

/** The answer to a wish for a run. */
export const queuedRunSchema = z.object({ run_id: z.string(), up_to: time, message: z.string() });
