import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from '../api-deps.ts';
import { readCredential } from '../http/authenticate.ts';
import type { RequestContext } from '../http/route.ts';
import { judgeStream } from './judge-stream.ts';
import type { StreamRequest } from '../live/open-stream.ts';
import { waitForRecord } from '../live/wait-for-record.ts';

/** Judges again who reads a topic for longer than a moment. */
export interface ReaderJudge {
  /** What the reader is known by; null for nobody. */
  readonly credential: CredentialRef | null;
  /** As streams are judged. */
  readonly endReason: StreamRequest['judge'];
  /** Throws what the request would be answered with now: 401, 403, 404. */
  require(): Promise<void>;
}

export async function judgeReader(deps: ApiDeps, context: RequestContext, topic: Topic): Promise<ReaderJudge> {
  const { caller, request, searchParams } = context;
  const credential = await readCredential(deps, {
    headers: request.headers,
    query: searchParams,
    isTopicRoute: true,
    isStream: false,
  });
  const endReason = judgeStream(deps, { caller, credential, topics: [topic] });
  return {
    credential,
    endReason,
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
 * Reads until there is something, for so long at most, and then judges anew whoever waited, since access can end meanwhile.
 * Throws as the request would then.
 */
export async function waitAsReader<T>(
  deps: ApiDeps,
  context: RequestContext,
  topic: Topic,
  { waitMs, read }: { waitMs: number; read: () => Promise<T[]> },
): Promise<T[]> {
  const judge = await judgeReader(deps, context, topic);
  const waited = await waitForRecord(deps, topic, { waitMs, read, closed: context.response });
  await judge.require();
  return waited;
}
