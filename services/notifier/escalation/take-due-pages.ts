import type { EscalationPolicy } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import {
  advanceEscalation,
  endEscalation,
  nextStep,
  type EscalationPage,
  type PageEntry,
} from '@tocsin/shared/domain/escalation/escalation-state.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { pageJob, pushQueueOf, stepJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { policyFor, timesOf } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { recordAcknowledgement } from '@tocsin/shared/operations/escalation/record-acknowledgement.ts';
import { findStepTopic, hasStepReader } from '@tocsin/shared/operations/escalation/step-targets.ts';
import { escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { addPushJobs, type PlacedPush } from '../jobs/add-push-jobs.ts';
import type { EscalationDeps } from './escalation-deps.ts';
import { publishStep } from './publish-step.ts';

/** The longest delay of the store, which lags while it is down. */
const waitForMessageMs = 60 * 60_000;
const messagePauseMs = 5_000;
/** Pages in the history of an escalation: all of a round, and of some rounds before. */
export const pagesMax = 100;

export interface DueEscalation {
  readonly escalation: Escalation;
  /** Null if it is not stored yet, or no longer. */
  readonly message: StoredMessage | null;
  /** Null if it was deleted. */
  readonly topic: Topic | null;
}

/**
 * Enqueues the pages of the escalation that are due, and publishes those to other topics, then stores that. After a
 * crash in between, the same pages are enqueued again under the same names, which the queue and the ledger know. Throws
 * StaleVersion if it changed meanwhile, for example by an acknowledgement: a page that is enqueued then is not sent.
 */
export async function takeDuePages(deps: EscalationDeps, due: DueEscalation): Promise<void> {
  const { escalation, message, topic } = due;
  const { documents, eventLog, messages } = deps.engine;
  const now = deps.clock();
  if (escalation.unrecordedAt !== null && (escalation.dueAt ?? now) <= now) {
    const append = async (of: Topic, record: Parameters<typeof eventLog.append>[1]) =>
      void (await eventLog.append(of.partition, record, of.name));
    return recordAcknowledgement({ documents, messages, clock: deps.clock, append }, escalation.id);
  }
  const isWaiting =
    message === null
      ? now - escalation.openedAt < waitForMessageMs
      : isUnlikeStored(escalation, message) && now - escalation.state.startedAt < waitForMessageMs;
  if (isWaiting && topic !== null)
    return void (await documents.update(escalations, escalation, { dueAt: now + messagePauseMs, decidedAt: now }));
  if (message === null || topic === null || message.isDeleted || message.expiresAt <= now) {
    const ended = { ...escalation, state: endEscalation(escalation.state, now), unrecordedAt: null };
    const { state, unrecordedAt } = ended;
    return void (await documents.update(escalations, escalation, { state, unrecordedAt, ...timesOf(null, ended) }));
  }
  await takePages(deps, { escalation, message, topic });
}

/** Whether a replacement that changed what is required is not stored yet. */
const isUnlikeStored = ({ isRequired }: Escalation, { isDeleted, requiresAck }: StoredMessage): boolean =>
  isRequired && !isDeleted && !requiresAck;

/** An escalation whose message and topic exist. */
interface LiveEscalation {
  readonly escalation: Escalation;
  readonly message: StoredMessage;
  readonly topic: Topic;
}

async function takePages(deps: EscalationDeps, live: LiveEscalation): Promise<void> {
  const { message, topic } = live;
  const now = deps.clock();
  const policy = policyFor(topic, message.priority);
  const reachable = await reachableSteps(deps, live, { policy, now });
  const { state, pages } = advanceEscalation(policy, live.escalation.state, {
    now,
    isReachable: (step) => reachable.has(step),
  });
  await addPushJobs(
    deps.engine.jobQueue,
    pages.flatMap((page) => jobsOf(live, policy, page)),
  );
  let { escalation } = live;
  for (const page of pages) {
    const to = page.kind === 'step' && !page.isSkipped ? policy!.steps[page.number - 1]!.to : null;
    if (to?.kind === 'topic') escalation = await publishStep(deps, { ...live, escalation }, to.topicId);
  }
  const entries = pages.map((page): PageEntry => entryOf(page, now));
  await deps.engine.documents.update(escalations, escalation, {
    state,
    pages: [...escalation.pages, ...entries].slice(-pagesMax),
    plannedId: null,
    ...timesOf(policy, { ...escalation, state }),
  });
}

const entryOf = (page: EscalationPage, at: number): PageEntry => ({
  kind: page.kind,
  round: page.round,
  number: page.number,
  at,
  skipped: page.kind === 'step' && page.isSkipped ? 'no one of the step can read the topic' : null,
});

/** A skipped step to users has a job as well, which records in the ledger why it was skipped. */
function jobsOf(
  { message, topic }: LiveEscalation,
  policy: EscalationPolicy | null,
  page: EscalationPage,
): PlacedPush[] {
  const { kind, round, number } = page;
  const ids = { messageId: message.id, topicId: topic.id, page: { kind, round, number } };
  const queue = pushQueueOf(message.priority);
  if (kind === 'repeat')
    return [[queue, pageJob({ ...ids, after: null, publishedAt: message.timestamp }, message.priority)]];
  return policy!.steps[number - 1]!.to.kind === 'users' ? [[queue, stepJob(ids, message.priority)]] : [];
}

/** Returns the numbers of the remaining steps that reach someone; looks them up only if a step is due. */
async function reachableSteps(
  { engine: { documents } }: EscalationDeps,
  { escalation, topic }: LiveEscalation,
  { policy, now }: { readonly policy: EscalationPolicy | null; readonly now: number },
): Promise<Set<number>> {
  const reachable = new Set<number>();
  const next = nextStep(policy, escalation.state);
  // After the clock was set back, the step is due by the clock of the last decision.
  if (policy === null || next === null || next.at > Math.max(now, escalation.state.decidedAt)) return reachable;
  for (const [index, { to }] of policy.steps.entries()) {
    if (index + 1 < next.number) continue;
    const isReachable =
      to.kind === 'users'
        ? await hasStepReader(documents, topic, to)
        : (await findStepTopic(documents, topic, policy, to.topicId)) !== null;
    if (isReachable) reachable.add(index + 1);
  }
  return reachable;
}
