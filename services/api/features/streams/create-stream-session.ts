import type { StreamSession } from '@tocsin/shared/domain/accounts/stream-session.ts';
import { topicNameKey } from '@tocsin/shared/domain/topics/topic.ts';
import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { readCredential } from '../../http/authenticate.ts';
import { optionalField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { nilId } from '../../live/resolve-position.ts';
import { sessionSeconds } from '../../live/stream-sessions.ts';
import { parsePositionId } from './given-position.ts';
import { loadTopicsByName, streamTopicsMax, topicErrors, type NamedTopic } from './load-topics.ts';
import { makeSessionSecret } from './session-secret.ts';
import { credentialSources } from './stream-kind.ts';

const positionId = z
  .string()
  .refine((text) => parsePositionId(text) !== null, 'must be the id of a message')
  .meta({ format: 'uuid' });

const body = z.object({
  topics: z
    .array(z.string())
    .refine(isFew, `must name 1 to ${streamTopicsMax} topics`)
    .meta({ minItems: 1, description: `Names of 1 to ${streamTopicsMax} topics` }),
  since_id: optionalField(z.record(z.string(), positionId.nullable())).meta({
    description: 'The last received message of each topic, or the nil UUID for its beginning',
  }),
});

function isFew(names: readonly string[]): boolean {
  const { size } = new Set(names.map(topicNameKey));
  return size > 0 && size <= streamTopicsMax;
}

/** A placeholder for all names outside the session; no topic has this name. */
const stranger: readonly [string, string] = ['', nilId];

/** The stored positions; null without positions. */
function sinceIdsOf(sent: z.output<typeof body>['since_id'], topics: readonly NamedTopic[]): StreamSession['sinceIds'] {
  const given = Object.entries(sent ?? {}).flatMap(([name, id]) =>
    id === null ? [] : [[topicNameKey(name), id.toLowerCase()] as const],
  );
  if (given.length === 0) return null;
  const known = new Set(topics.flatMap(({ nameKeys }) => nameKeys));
  const own = given.filter(([nameKey]) => known.has(nameKey));
  return own.length === given.length ? own : [...own, stranger];
}

/** `POST /api/sse/sessions` */
export function createStreamSession(deps: Pick<ApiDeps, 'accessTokens' | 'directory' | 'engine'>): Route {
  return route({
    id: 'createStreamSession',
    method: 'POST',
    path: '/api/sse/sessions',
    summary: 'Create a session that opens streams of several topics',
    audience: 'account',
    scope: 'subscribe',
    body,
    success: {
      status: 200,
      schema: z.object({ session_id: z.string(), topics: z.array(z.string()), expires_in: z.int() }),
      description: 'The session and its lifetime in seconds, counted from now and from the end of its last stream',
    },
    errors: topicErrors,
    async handle(context, { body: { topics: names, since_id } }) {
      const topics = await loadTopicsByName(deps.directory, context.account(), names);
      const credential = await readCredential(deps, {
        ...credentialSources(context, { isTopicRoute: false }),
        isStream: false,
      });
      const { secret, id } = makeSessionSecret();
      const session: Omit<StreamSession, 'version'> = {
        id,
        credential: credential!,
        topics: topics.map(({ topic, nameKeys }) => ({ id: topic.id, nameKeys })),
        sinceIds: sinceIdsOf(since_id, topics),
        createdAt: context.now,
        expiresAt: context.now + sessionSeconds * 1_000,
      };
      await deps.engine.documents.insert(streamSessions, session);
      return {
        status: 200,
        body: { session_id: secret, topics: topics.map(({ topic }) => topic.name), expires_in: sessionSeconds },
      };
    },
  });
}
