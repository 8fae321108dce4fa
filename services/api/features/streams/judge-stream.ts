import { mayUseTopic } from '@tocsin/shared/domain/access.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { anonymous, authenticate, type CredentialSources } from '../../http/authenticate.ts';
import { roleOf } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';
import type { EndReason } from '../../live/stream-sink.ts';

/** Judges an open stream anew, by the credential it was opened with: whether that still holds, and still opens its topics. */
export function judgeStream(deps: ApiDeps, context: RequestContext, topics: readonly Topic[]): () => Promise<EndReason | null> {
  const sources: CredentialSources = { headers: context.request.headers, query: context.searchParams, isTopicRoute: true, isStream: true };
  return async () => {
    const caller = await callerNow(deps, sources, context.address);
    if (caller === null) return 'credential-ended';
    for (const { id } of topics) {
      const topic = await deps.directory.topic(id);
      if (topic === null) return 'topic-deleted';
      if (!mayUseTopic(caller, topic, 'read', await roleOf(deps.directory, caller, topic))) return 'access-lost';
      deps.feeds.find(id)?.rename(topic.name);
    }
    return null;
  };
}

async function callerNow(deps: ApiDeps, sources: CredentialSources, address: string) {
  try {
    return (await authenticate(deps, sources)) ?? anonymous(address);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}
