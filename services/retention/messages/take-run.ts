import {
  needsConfirmation,
  planOf,
  unconfirmedMax,
  type RetentionPlan,
} from '@tocsin/shared/domain/retention/retention-plan.ts';
import type { RetentionRun, RetentionState, RunRequest } from '@tocsin/shared/domain/retention/retention-run.ts';
import { StaleVersion, UniqueKeyViolation, write } from '@tocsin/shared/ports/documents.ts';
import { planRetention, planTopics } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { retentionRuns, retentionStates } from '@tocsin/shared/collections/retention-runs.ts';
import { heldTopicIds } from './held-topic-ids.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

/** After so long without a sign of life a run's worker has died, and another one goes on. */
export const runLeaseMs = 5_000;
/** Topics that a report tells of. */
const topicsMax = 100;

/**
 * Resolves with the run that is to be worked on, leased: the one that is under way, or a new one with its plan. Null when
 * another worker has it, when there is nothing to remove, or when what there is waits for an operator.
 */
export async function takeRun(
  deps: RetentionDeps,
  state: RetentionState,
  request: RunRequest | undefined,
): Promise<RetentionRun | null> {
  try {
    return await (state.runId === null ? beginRun(deps, state, request) : goOn(deps, state));
  } catch (error) {
    // Somebody else was faster, or the request was made a run already.
    if (error instanceof StaleVersion || error instanceof UniqueKeyViolation) return null;
    throw error;
  }
}

async function goOn(
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
  if (wasCutOff) log.warn({ runId: run.id }, 'a run whose worker died is gone on with');
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
  // Left out of the plan, too: it would be read again for each run, however much it is.
  const except = await heldTopicIds(documents);
  const count = await messages.countExpired(upTo, { max: unconfirmedMax.messages + 1, except });
  if (count === 0 && request === undefined) {
    if (state.waiting !== null || state.confirmedUpTo !== null)
      await documents.update(retentionStates, state, { waiting: null, confirmedUpTo: null });
    deps.metrics.waiting.set(0);
    return null;
  }
  const isLarge = count > unconfirmedMax.messages && state.confirmedUpTo === null;
  // What waits is not planned anew in every slot.
  if (isLarge && state.waiting !== null && request === undefined) {
    deps.metrics.waiting.set(state.waiting.messages);
    return null;
  }
  const now = deps.clock();
  const plan = isLarge
    ? await planRetention(deps.engine, { upTo, now, except })
    : planOf(upTo, await planTopics(deps.engine, { upTo, now, except }), new Map());
  return store(deps, { state, plan, request, waits: isLarge && needsConfirmation(plan) });
}

interface Beginning {
  readonly state: RetentionState;
  readonly plan: RetentionPlan;
  readonly request: RunRequest | undefined;
  readonly waits: boolean;
}

async function store(
  { engine: { documents }, clock, makeId, log, metrics }: RetentionDeps,
  { state, plan, request, waits }: Beginning,
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
    'more messages would be removed than is usual: look at `tocsin retention plan`, then confirm or pause',
  );
  return null;
}
