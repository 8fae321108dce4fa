import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from '../api-deps.ts';
import { callerBehind } from '../http/authenticate.ts';
import { roleOf } from '../http/load-topic.ts';
import type { StreamRequest } from '../live/open-stream.ts';

/** The state for checking an open stream. */
export interface AuthorizedStream {
  /** The caller. */
  readonly caller: Caller;
  /** The credential; null if anonymous. */
  readonly credential: CredentialRef | null;
  readonly topics: readonly Topic[];
  /** Updated with each check. */
  readonly managedTopics: Set<string>;
}

/** Checks an open stream again: whether its credential is still valid and still grants access to its topics. */
export function authorizeStream(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'directory'>,
  { caller, credential, topics, managedTopics }: AuthorizedStream,
): StreamRequest['authorize'] {
  return async (onTopic) => {
    const current = credential === null ? caller : await callerNow(deps, credential);
    // A topic's tokens are deleted with it, so report the topic's deletion.
    if (current === null)
      return caller.kind === 'topic-token' && (await isGone(deps, caller.topicId))
        ? 'topic-deleted'
        : 'credential-ended';
    for (const { id } of topics) {
      const topic = await deps.directory.topic(id);
      if (topic === null) return 'topic-deleted';
      const role = await roleOf(deps.directory, current, topic);
      if (!mayUseTopic(current, topic, 'read', role)) return 'access-lost';
      if (mayUseTopic(current, topic, 'manage', role)) managedTopics.add(id);
      else managedTopics.delete(id);
      onTopic(topic);
    }
    return null;
  };
}

async function isGone(deps: Pick<ApiDeps, 'directory'>, topicId: string): Promise<boolean> {
  return (await deps.directory.topic(topicId)) === null;
}

async function callerNow(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'directory'>,
  credential: CredentialRef,
): Promise<Caller | null> {
  try {
    return await callerBehind(deps, credential);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}
