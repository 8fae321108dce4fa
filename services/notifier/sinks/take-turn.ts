import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { mailAttempts, mailQueue, type MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { FilterSubject, recordMatcher } from '@tocsin/shared/domain/messages/content-filter.ts';
import { isRefusal, judgeAttempt, type Sink, type SinkAttempt } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import { toTopicRecordJson } from '@tocsin/shared/wire/topic-record.ts';
import { chatMessageOf } from './compose-chat.ts';
import type { SinkEvent } from './compose-request.ts';
import type { HeldSink } from './held-sink.ts';
import type { SinkDeps } from './sink-deps.ts';

/** Records per read. */
const recordsMax = 100;
/** The pause while records are in the log that are not stored yet. */
const unsettledMs = 200;
/** The pause of a sink whose topic was deleted, until its erasure. */
const erasureMs = 60_000;

/** Whether there may be more to do, or the claim has ended. */
type Step = 'more' | 'ended';

/**
 * Sends records of the sink until it has none, one fails, or the turn is over, and ends the claim. Throws ClaimLost,
 * and `unavailable`; the claim then expires.
 */
export async function takeTurn(deps: SinkDeps, held: HeldSink): Promise<void> {
  const endAt = performance.now() + deps.limits.turnMs;
  for (;;) {
    const { sink } = held;
    const topic = await deps.engine.documents.get(topics, sink.topicId);
    let step: Step = 'more';
    if (topic === null) step = await waitForErasure(deps, held);
    else if (sink.testAt !== null) await sendTest(deps, held, topic);
    else if (sink.state !== 'active') step = await end(held, { dueAt: null });
    else if (sink.retryAt !== null && sink.retryAt > deps.clock()) step = await end(held, { dueAt: sink.retryAt });
    else step = await sendRecords(deps, held, topic);
    const isOver = deps.closing.aborted || performance.now() >= endAt;
    if (step === 'more' && isOver) step = await release(deps, held, 0);
    if (step === 'ended') return;
  }
}

const release = (deps: SinkDeps, held: HeldSink, afterMs: number): Promise<Step> =>
  end(held, { dueAt: deps.clock() + afterMs });

function waitForErasure(deps: SinkDeps, held: HeldSink): Promise<Step> {
  held.endTest();
  return release(deps, held, erasureMs);
}

/** Ends the claim. A manager's change meanwhile keeps it for another look. */
async function end(held: HeldSink, change: Partial<Sink>): Promise<Step> {
  return (await held.save({ claim: null, ...change })) ? 'ended' : 'more';
}

async function sendRecords(deps: SinkDeps, held: HeldSink, topic: Topic): Promise<Step> {
  const { history, engine, closing } = deps;
  const matches = recordMatcher(held.sink.filter);
  // In this order: up to the watermark, everything below the head is in the read.
  const head = (await engine.documents.get(sinkTopics, topic.id))?.head ?? -1;
  const watermark = await history.watermark(topic.partition);
  const records = await history.records(topic, held.sink.offset, recordsMax);
  if (records.length === 0) {
    if (held.sink.offset <= head && watermark < head) return release(deps, held, unsettledMs);
    if (held.sink.offset <= head) held.moveTo(head + 1);
    return settle(deps, held);
  }
  for (const record of records) {
    if (closing.aborted) return 'more';
    if (!matches(record.type, new FilterSubject(record.message))) held.moveTo(record.offset + 1);
    else if ((await sendRecord(deps, held, topic, record)) === 'ended') return 'ended';
    if (held.isSaveDue && !(await held.save())) return 'more';
  }
  return records.length < recordsMax ? settle(deps, held) : 'more';
}

/**
 * Stores the progress and lets the sink wait for the next record of its topic. Becomes idle first and reads the head
 * again second, whereas `wakeSinks` raises the head first and looks for idle sinks second. Until the second write the
 * sink stays due, so that a crash in between loses nothing.
 */
async function settle(deps: SinkDeps, held: HeldSink): Promise<Step> {
  const { documents } = deps.engine;
  if (!(await held.save({ claim: null, isIdle: true, dueAt: deps.clock() + deps.limits.claimMs }))) return 'more';
  const { sink } = held;
  const head = (await documents.get(sinkTopics, sink.topicId))?.head ?? -1;
  try {
    if (head < sink.offset && sink.testAt === null) await documents.update(sinks, sink, { dueAt: null });
    else await documents.update(sinks, sink, { dueAt: deps.clock(), isIdle: false });
  } catch (error) {
    // It was woken or changed.
    if (!(error instanceof StaleVersion)) throw error;
  }
  return 'ended';
}

async function sendRecord(deps: SinkDeps, held: HeldSink, topic: Topic, record: TopicRecord): Promise<Step> {
  const { sink } = held;
  const startedAt = deps.clock();
  const id = requestIdOf(record);
  const { attempt, milliseconds } = await post(deps, sink, {
    id,
    type: `tocsin.${record.type}`,
    source: sourceOf(deps, topic),
    subject: topic.name,
    time: record.timestamp,
    data: toTopicRecordJson(record, topic.name, 'manager'),
    chat: chatMessageOf(record, topic.name),
  });
  const now = deps.clock();
  const attempts = sink.attempts + 1;
  const failingSince = Math.min(sink.failingSince ?? startedAt, now);
  const verdict = judgeAttempt(attempt, { attempts, failingSince, now, random: deps.random() });
  const { status, error } = resultOf(attempt);
  const outcome = verdict.kind === 'retry' ? 'retrying' : verdict.kind;
  deps.requests.inc({ kind: sink.kind, outcome });
  held.note({ offset: record.offset, requestId: id, outcome, status, error, attempts, milliseconds, at: now });
  switch (verdict.kind) {
    case 'delivered':
    case 'skipped':
      held.moveTo(record.offset + 1, verdict.kind);
      return 'more';
    case 'retry': {
      const retryAt = now + verdict.afterMs;
      held.fail({ attempts, failingSince: isRefusal(status) ? null : failingSince, retryAt });
      return end(held, { dueAt: retryAt });
    }
    case 'disabled':
      held.fail({ attempts, failingSince: null, retryAt: null });
      return end(held, { state: 'disabled', stateReason: 'The receiver returned 410', dueAt: null });
    case 'paused':
      held.fail({ attempts, failingSince, retryAt: null });
      // First the email, because its job has a name that is added once.
      await mailPause(deps, sink, failingSince);
      return end(held, {
        state: 'paused',
        stateReason: `No delivery for 24 hours: ${error ?? `the receiver returned ${status}`}`,
        dueAt: null,
      });
  }
}

async function sendTest(deps: SinkDeps, held: HeldSink, topic: Topic): Promise<void> {
  const { sink } = held;
  const id = deps.makeId();
  const { attempt, milliseconds } = await post(deps, sink, {
    id,
    type: 'tocsin.test',
    source: sourceOf(deps, topic),
    subject: topic.name,
    time: sink.testAt!,
    data: { sink_id: sink.id, topic_id: topic.id, topic: topic.name, name: sink.name },
    chat: { title: topic.name, text: `A test of the sink ${sink.name}.`, url: null },
  });
  const { status, error } = resultOf(attempt);
  const outcome = status !== null && status >= 200 && status < 300 ? 'delivered' : 'skipped';
  deps.requests.inc({ kind: sink.kind, outcome: 'test' });
  held.note({ offset: null, requestId: id, outcome, status, error, attempts: 1, milliseconds, at: deps.clock() });
  held.endTest();
  await held.save();
}

async function post(
  { client, clock }: SinkDeps,
  sink: Sink,
  event: SinkEvent,
): Promise<{ attempt: SinkAttempt; milliseconds: number }> {
  // Loaded at the first request, because the libraries take some megabytes.
  const { composeRequest } = await import('./compose-request.ts');
  const request = composeRequest(sink, event, clock());
  const startedAt = performance.now();
  const attempt = await client.post(request);
  return { attempt, milliseconds: Math.round(performance.now() - startedAt) };
}

const sourceOf = ({ baseUrl }: SinkDeps, { id }: Topic): string => `${baseUrl}/api/topics/${id}`;

/** A message has the ID of its publish. Standard Webhooks allows no full stop. */
const requestIdOf = ({ type, offset, message: { id } }: TopicRecord): string =>
  type === 'message' ? id : `${id}-${offset}`;

const resultOf = (attempt: SinkAttempt): { status: number | null; error: string | null } =>
  attempt.kind === 'answer' ? { status: attempt.status, error: null } : { status: null, error: attempt.reason };

async function mailPause({ engine }: SinkDeps, { id }: Sink, failingSince: number): Promise<void> {
  const job: MailJob = { kind: 'sink-paused', sinkId: id };
  await engine.jobQueue.add(mailQueue, [{ id: `sink-paused.${id}.${failingSince}`, data: job, ...mailAttempts }]);
}
