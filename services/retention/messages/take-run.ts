import {
  needsConfirmation,
  planOf,
  unconfirmedMax,
  type RetentionPlan,
} from '@tocsin/shared/domain/retention/retention-plan.ts';
import {
  noneArchived,
  type ConsumerBehindOfRun,
  type RetentionRun,
  type RetentionState,
  type RunRequest,
} from '@tocsin/shared/domain/retention/retention-run.ts';
import { StaleVersion, UniqueKeyViolation, write } from '@tocsin/shared/ports/documents.ts';
import { planTopics, planWithTiers, worstBehindOf } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { protectsConsumers, retentionRuns, retentionStates } from '@tocsin/shared/collections/retention-runs.ts';
import { settleConsumers } from '@tocsin/shared/operations/retention/settle-consumers.ts';
import { heldTopicIds } from './held-topic-ids.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

/** A worker without a heartbeat for this long counts as dead, and another one takes over its run. */
export const runLeaseMs = 5_000;
/** Topics per report. */
const topicsMax = 100;

/**
 * Resolves with a leased run: the current one, or a new one with its plan. Null if
 * another worker has the lease, nothing must be removed, or the plan waits for confirmation.
 */
export async function takeRun(
  deps: RetentionDeps,
  state: RetentionState,
  request: RunRequest | undefined,
): Promise<RetentionRun | null> {
  try {
    return await (state.runId === null ? beginRun(deps, state, request) : resumeRun(deps, state));
  } catch (error) {
    // Another worker was faster, or the request already became a run.
    if (error instanceof StaleVersion || error instanceof UniqueKeyViolation) return null;
    throw error;
  }
}

async function resumeRun(
  { engine: { documents }, clock, log }: RetentionDeps,
  state: RetentionState,
): Promise<RetentionRun | null> {
  const run = await documents.get(retentionRuns, state.runId!);
  if (run === null || run.endedAt !== null) {
    await documents.update(retentionStates, state, { runId: null });
    return null;
  }
  if (run.leasedUntil > clock()) return null;
  const wasCutOff = run.leasedUntil > 0;
  if (wasCutOff) log.warn({ runId: run.id }, 'resuming a run whose worker died');
  return documents.update(retentionRuns, run, {
    leasedUntil: clock() + runLeaseMs,
    interruptions: run.interruptions + (wasCutOff ? 1 : 0),
  });
}

async function beginRun(
  deps: RetentionDeps,
  state: RetentionState,
  request: RunRequest | undefined,
): Promise<RetentionRun | null> {
  const { documents, messages } = deps.engine;
  const upTo = state.confirmedUpTo ?? request?.upTo ?? deps.clock();
  // Excluded from the plan, too: otherwise each run would read it again.
  const except = await heldTopicIds(documents);
  const now = deps.clock();
  const protects = await protectsConsumers(documents, { isSet: deps.config.RETENTION_PROTECT_CONSUMERS, now });
  const of = { upTo, now, except, protects };
  // Protected messages are expired, too, but must not start a run.
  const planned = protects ? await planTopics(deps.engine, of) : null;
  const count =
    planned?.reduce((sum, topic) => sum + topic.messages, 0) ??
    (await messages.countExpired(upTo, { max: unconfirmedMax.messages + 1, except }));
  if (count === 0 && request === undefined) {
    if (state.waiting !== null || state.confirmedUpTo !== null)
      await documents.update(retentionStates, state, { waiting: null, confirmedUpTo: null });
    deps.metrics.waiting.set(0);
    return null;
  }
  const isLarge = count > unconfirmedMax.messages && state.confirmedUpTo === null;
  // A waiting plan is not computed again in every slot.
  if (isLarge && state.waiting !== null && request === undefined) {
    deps.metrics.waiting.set(state.waiting.messages);
    return null;
  }
  const ofTopics = planned ?? (await planTopics(deps.engine, of));
  const plan = isLarge ? await planWithTiers(deps.engine, ofTopics, of) : planOf(upTo, ofTopics, new Map());
  const waits = isLarge && needsConfirmation(plan);
  const behind = waits ? [] : await settle(deps, plan);
  return store(deps, { state, plan, request, waits, behind });
}

/** Counts what consumers lose by the run, before it begins. Returns those with the most unread records. */
const settle = ({ engine }: RetentionDeps, plan: RetentionPlan): Promise<ConsumerBehindOfRun[]> =>
  worstBehindOf(plan, (topicId, upTo) => settleConsumers(engine, topicId, upTo));

interface Beginning {
  readonly state: RetentionState;
  readonly plan: RetentionPlan;
  readonly request: RunRequest | undefined;
  readonly waits: boolean;
  readonly behind: readonly ConsumerBehindOfRun[];
}

async function store(
  { engine: { documents }, clock, makeId, log, metrics }: RetentionDeps,
  { state, plan, request, waits, behind }: Beginning,
): Promise<RetentionRun | null> {
  const now = clock();
  const { upTo, messages, bytes, tiers } = plan;
  const id = request?.id ?? makeId();
  await documents.commit([
    write.insert(retentionRuns, {
      id,
      startedBy: request?.startedBy ?? 'schedule',
      startedAt: now,
      endedAt: waits ? now : null,
      upTo,
      planned: { messages, bytes },
      messages: 0,
      bytes: 0,
      tiers: [],
      topics: plan.topics
        .filter(({ isHeld }) => !isHeld)
        .slice(0, topicsMax)
        .map(({ topicId, name, tier }) => ({ topicId, name, tier, messages: 0, bytes: 0 })),
      consumersBehind: behind,
      archived: noneArchived,
      outcome: waits ? 'waiting' : 'running',
      interruptions: 0,
      leasedUntil: waits ? 0 : now + runLeaseMs,
    }),
    write.update(
      retentionStates,
      state,
      waits ? { waiting: { upTo, since: now, messages, bytes, tiers } } : { runId: id, waiting: null },
    ),
  ]);
  metrics.waiting.set(waits ? messages : 0);
  if (!waits) return documents.get(retentionRuns, id);
  log.error(
    { upTo: new Date(upTo).toISOString(), messages, bytes, tiers },
    'unusually many messages would be removed: check `tocsin retention plan`, then confirm or pause',
  );
  return null;
}
