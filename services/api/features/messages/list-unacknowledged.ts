import { nextRepeatAt, nextStep } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { isoOrNull, toIso } from '@tocsin/shared/domain/to-iso.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { policyFor } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { messageSchema } from '@tocsin/shared/wire/message.ts';
import { findOpenEscalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { loadNamedTopic, namedTopic, namedTopicErrors } from './load-named-topics.ts';
import { searchableTopics, spanOf, toSpanJson } from './searchable-topics.ts';

/** IDs per lookup. */
const topicsAtOnce = 1_000;
/** Concurrent queries. */
const queriesMax = 20;

const waitingSchema = messageSchema
  .extend({
    repeats: z.int().describe('The number of repeats so far.'),
    next_repeat_at: z.iso.datetime().nullable(),
    next_step: z.object({ number: z.int(), at: z.iso.datetime() }).nullable(),
  })
  .meta({ id: 'UnacknowledgedMessage' });

/** `GET /api/messages/unacknowledged` */
export function listUnacknowledged(deps: Pick<ApiDeps, 'directory' | 'engine' | 'topicSpans'>): Route {
  return route({
    id: 'listUnacknowledged',
    method: 'GET',
    path: '/api/messages/unacknowledged',
    summary: 'List the messages that wait for an acknowledgement',
    description:
      'Of the named topic, or of all topics with a policy that the caller owns, subscribes to or reaches through a team and may read with this credential.',
    audience: 'account',
    scope: 'subscribe',
    query: z.object({ limit: queryInteger({ min: 1, max: 200 }).default(100), topic: namedTopic }),
    success: { status: 200, schema: z.array(waitingSchema), description: 'Oldest first' },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopic(deps, context),
    async handle(context, { loaded: named, query: { limit } }) {
      const span =
        named === null ? await searchableTopics(deps, context.account()) : await spanOf(deps, context.caller, named);
      const { documents, messages } = deps.engine;
      const withPolicy = await topicsWithPolicy(deps, span.ids, named !== null);
      const open: Escalation[] = [];
      for (let at = 0; at < withPolicy.length; at += queriesMax)
        open.push(
          ...(
            await Promise.all(
              withPolicy.slice(at, at + queriesMax).map(({ id }) => findOpenEscalations(documents, id, limit)),
            )
          ).flat(),
        );
      const oldest = open.sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1)).slice(0, limit);
      const found = new Map((await messages.findMany(oldest.map(({ id }) => id))).map((one) => [one.id, one]));
      const topicsById = new Map(withPolicy.map((topic) => [topic.id, topic]));
      const waiting = oldest.flatMap((escalation) => {
        const message = found.get(escalation.id);
        return message === undefined || message.isDeleted || message.expiresAt <= context.now
          ? []
          : [{ escalation, message, topic: topicsById.get(escalation.topicId)! }];
      });
      const shown = toSpanJson(
        span,
        waiting.map(({ message }) => message),
      );
      return { status: 200, body: waiting.map((one, index) => ({ ...shown[index]!, ...progressOf(one) })) };
    },
  });
}

type WithPolicy = Pick<Topic, 'id' | 'escalation'>;

/** Returns the topics that have a policy, or all of them. */
async function topicsWithPolicy(
  { engine: { documents } }: Pick<ApiDeps, 'engine'>,
  ids: readonly string[],
  all: boolean,
): Promise<WithPolicy[]> {
  const found: WithPolicy[] = [];
  for (let at = 0; at < ids.length; at += topicsAtOnce)
    found.push(...(await documents.pick(topics, ids.slice(at, at + topicsAtOnce), ['escalation'])));
  return all ? found : found.filter(({ escalation }) => escalation !== null);
}

function progressOf(of: { escalation: Escalation; message: StoredMessage; topic: WithPolicy }) {
  const { state } = of.escalation;
  const policy = policyFor(of.topic, of.message.priority);
  const step = nextStep(policy, state);
  return {
    repeats: state.repeats,
    next_repeat_at: isoOrNull(nextRepeatAt(policy, state)),
    next_step: step === null ? null : { number: step.number, at: toIso(step.at) },
  };
}
