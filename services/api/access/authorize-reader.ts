import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { MessageView } from '@tocsin/shared/wire/message.ts';
import type { ApiDeps } from '../api-deps.ts';
import { readCredential } from '../http/authenticate.ts';
import { messageView } from '../http/load-topic.ts';
import type { RequestContext } from '../http/route.ts';
import { authorizeStream } from './authorize-stream.ts';
import { reserveStream, type StreamRequest } from '../live/open-stream.ts';
import { waitForRecord, type FeedRead } from '../live/wait-for-record.ts';

/** Checks the access of a long-running reader again. */
export interface ReaderAuthorization {
  /** The reader's credential; null if anonymous. */
  readonly credential: CredentialRef | null;
  /** Checks access like streams. */
  readonly endReason: StreamRequest['authorize'];
  /** What the reader sees of the topic's messages now. */
  readonly view: () => MessageView;
  /** Throws the error that the request would get now: 401, 403, 404. */
  require(): Promise<void>;
}

export async function authorizeReader(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'directory'>,
  context: RequestContext,
  topic: Topic,
): Promise<ReaderAuthorization> {
  const { caller, request, searchParams } = context;
  const credential = await readCredential(deps, {
    headers: request.headers,
    query: searchParams,
    isTopicRoute: true,
    isStream: false,
  });
  const managedTopics = new Set((await messageView(deps.directory, caller, topic)) === 'manager' ? [topic.id] : []);
  const endReason = authorizeStream(deps, { caller, credential, topics: [topic], managedTopics });
  return {
    credential,
    endReason,
    view: () => (managedTopics.has(topic.id) ? 'manager' : 'reader'),
    async require() {
      const reason = await endReason(() => undefined);
      if (reason === null) return;
      if (reason === 'topic-deleted') throw new AppError('not_found', 'Topic not found');
      if (reason === 'credential-ended') throw new AppError('unauthenticated', 'Could not validate credentials');
      if (credential === null) throw new AppError('unauthenticated', 'Not authenticated');
      throw new AppError('forbidden', 'Insufficient permissions to access this topic');
    },
  };
}

/**
 * Reads until the result is enough or the time is over, then checks access again, because it can end while waiting.
 * Counts as an open stream of the caller. Throws the error that a new request would get.
 */
export async function waitAsReader<T>(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'feeds' | 'streams' | 'waits'>,
  context: RequestContext,
  topic: Topic,
  wait: { waitMs: number; read: FeedRead<T>; isEnough: (result: T) => boolean },
): Promise<T> {
  const authorization = await authorizeReader(deps, context, topic);
  const place = await reserveStream(deps, context.caller);
  try {
    const waited = await waitForRecord(deps, topic, { ...wait, closed: context.response });
    await authorization.require();
    return waited;
  } finally {
    place.release();
  }
}
