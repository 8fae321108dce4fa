import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { StreamSession } from '@tocsin/shared/domain/accounts/stream-session.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { authenticate, callerBehind, readCredential } from '../../http/authenticate.ts';
import { contentFields, requireOrdered, toContentFilter } from '../../http/filtering/filter-fields.ts';
import { messageView } from '../../http/load-topic.ts';
import type { RequestContext, Route } from '../../http/route.ts';
import { openStream } from '../../live/open-stream.ts';
import { parseCompositePosition } from '../../live/composite-position.ts';
import { authorizeStream } from '../../access/authorize-stream.ts';
import { givenPosition, sinceIdsField } from './given-position.ts';
import { loadSessionTopics, loadTopicsByName, namesInQuery, topicErrors, type NamedTopic } from './load-topics.ts';
import { resolvePositions } from './resolve-positions.ts';
import { requireSession } from './session-secret.ts';
import { sseRoute } from './sse-route.ts';
import { credentialSources, type StreamDeps, type StreamKind } from './stream-kind.ts';
import { websocketRoute } from './websocket-route.ts';

const query = z
  .object({
    session: z
      .string()
      .optional()
      .describe('The ID of a stream session, whose topics and credential are used. Takes precedence over `topics`.'),
    topics: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .meta({ sentAs: { type: 'string' }, description: 'Names of 1 to 100 topics, separated by commas.' }),
    since_id: sinceIdsField,
    ...contentFields,
  })
  .superRefine(requireOrdered);

interface Loaded {
  readonly session: StreamSession | null;
  readonly topics: readonly NamedTopic[];
}

/** The stream of several topics, by a session or by names. */
export function topicsStream(deps: StreamDeps): StreamKind<Loaded, typeof query> {
  return {
    route: {
      audience: 'anyone',
      scope: 'subscribe',
      isStream: true,
      query,
      /** A session represents the credential that created it; a credential in the request is checked as well. */
      async findCaller(sources) {
        const caller = await authenticate(deps, sources);
        const secret = sources.query.get('session') ?? '';
        return secret === '' ? caller : callerBehind(deps, (await requireSession(deps, secret)).credential);
      },
      load: (context) => load(deps, context),
    },
    errors: topicErrors,
    async open(context, { loaded: { session, topics }, query }, openSink) {
      const { caller } = context;
      const credential =
        session?.credential ?? (await readCredential(deps, credentialSources(context, { isTopicRoute: false })));
      const ofSession = session === null || session.sinceIds === null ? undefined : new Map(session.sinceIds);
      const given = givenPosition(context, query.since_id ?? ofSession, parseCompositePosition);
      const { starts, recovered } = await resolvePositions(deps, topics, { given, now: context.now });
      const managedTopics = await managedOf(deps, caller, topics);
      await openStream(deps, {
        caller,
        credential,
        topics: starts,
        managedTopics,
        isComposite: true,
        filter: toContentFilter(query),
        openSink() {
          const sink = openSink();
          if (session !== null) sink.onClose(deps.streamSessions.hold(session));
          return sink;
        },
        ready: { topics: topics.map(({ topic }) => topic.name), ...(recovered === undefined ? {} : { recovered }) },
        authorize: authorizeStream(deps, {
          caller,
          credential,
          topics: topics.map(({ topic }) => topic),
          managedTopics,
        }),
      });
    },
  };
}

async function managedOf(
  { directory }: Pick<ApiDeps, 'directory'>,
  caller: Caller,
  topics: readonly NamedTopic[],
): Promise<Set<string>> {
  const views = await Promise.all(topics.map(({ topic }) => messageView(directory, caller, topic)));
  return new Set(topics.flatMap(({ topic }, index) => (views[index] === 'manager' ? [topic.id] : [])));
}

async function load(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>,
  { caller, searchParams }: RequestContext,
): Promise<Loaded> {
  const secret = searchParams.get('session') ?? '';
  if (secret !== '') {
    const session = await requireSession(deps, secret);
    return { session, topics: await loadSessionTopics(deps.directory, caller, session.topics) };
  }
  const names = namesInQuery(searchParams);
  if (names.length === 0) throw new AppError('unprocessable', 'topics: name 1 to 100 topics, or give a session');
  return { session: null, topics: await loadTopicsByName(deps.directory, caller, names) };
}

/** `GET /sse` */
export function streamTopicsBySse(deps: StreamDeps): Route {
  return sseRoute(topicsStream(deps), {
    id: 'streamTopicsBySse',
    path: '/sse',
    summary: 'Stream several topics as Server-Sent Events',
  });
}

/** `GET /ws` without an upgrade; `upgrade.ts` serves upgrades. */
export function streamTopicsByWebSocket(deps: StreamDeps): Route {
  return websocketRoute(topicsStream(deps), {
    id: 'streamTopicsByWebSocket',
    path: '/ws',
    summary: 'Stream several topics over a WebSocket',
  });
}
