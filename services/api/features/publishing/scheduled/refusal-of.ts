import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { ScheduledPublisher } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { apiKeys, topicTokens } from '@tocsin/shared/collections/credentials.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { callerBehind } from '../../../http/authenticate.ts';
import { requireScopes } from '../../../http/route.ts';
import { requireWritable } from '../load-writable-topic.ts';

type PublisherDeps = Pick<ApiDeps, 'accessTokens' | 'clock' | 'directory' | 'engine'>;

const isGone = () => new AppError('unauthenticated', "The publisher's account or credential is no longer valid");

/**
 * Returns why the publisher of a scheduled message may not publish it now, as text for people; null if it may. Throws
 * `unavailable`.
 */
export async function refusalOf(
  deps: PublisherDeps,
  publisher: ScheduledPublisher,
  topic: Topic,
): Promise<string | null> {
  try {
    await requireWritable(deps, await callerOf(deps, publisher), topic);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'forbidden') return error.message;
    if (error.code !== 'unauthenticated') throw error;
    return publisher.kind === 'anonymous' ? 'The topic takes no anonymous messages any more' : isGone().message;
  }
}

/** Returns the publisher as the caller that it would be now. Throws 401 and 403 like its request. */
async function callerOf(deps: PublisherDeps, publisher: ScheduledPublisher): Promise<Caller> {
  switch (publisher.kind) {
    case 'anonymous':
      return { kind: 'anonymous', address: '' };
    case 'topic-token': {
      const token = await deps.engine.documents.get(topicTokens, publisher.tokenId);
      if (token === null) throw isGone();
      return callerBehind(deps, { kind: 'topic-token', secretHash: token.secretHash });
    }
    case 'account':
      return publisher.keyId === null ? accountOf(deps, publisher.userId) : keyHolder(deps, publisher.keyId);
  }
}

/** The account as with a login: the one that scheduled the message may have ended. */
async function accountOf({ directory, clock }: PublisherDeps, userId: string): Promise<Caller> {
  const user = await directory.user(userId);
  if (user === null || !user.isActive) throw isGone();
  return {
    kind: 'account',
    userId,
    name: user.username,
    tier: tierInForce(user, clock()),
    scopes: null,
    credentialId: '',
    expiresAt: null,
  };
}

async function keyHolder(deps: PublisherDeps, keyId: string): Promise<Caller> {
  const key = await deps.engine.documents.get(apiKeys, keyId);
  if (key === null) throw isGone();
  const caller = await callerBehind(deps, { kind: 'api-key', secretHash: key.secretHash });
  if (caller.kind === 'account') requireScopes(caller, ['publish']);
  return caller;
}
