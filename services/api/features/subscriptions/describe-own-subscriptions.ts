import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { subscriptions, subscriptionsPerAccount } from '@tocsin/shared/collections/subscriptions-collection.ts';
import type { SubscriptionJson } from '@tocsin/shared/wire/subscription.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { describeSubscriptions } from './describe-subscriptions.ts';
import { readableSubscriptions } from './readable-subscriptions.ts';

/** Returns the caller's subscriptions of readable topics: pinned first, then by latest activity of the topic. */
export async function describeOwnSubscriptions(
  deps: Pick<ApiDeps, 'engine'>,
  caller: AccountCaller,
  now: number,
): Promise<SubscriptionJson[]> {
  const { documents, messages } = deps.engine;
  const found = await documents.find(subscriptions, {
    index: 'byUser',
    equals: { userId: caller.userId },
    limit: subscriptionsPerAccount,
  });
  const readable = await readableSubscriptions(deps, caller, found);
  const created = new Map(
    readable.map(({ subscription, topic }) => [subscription.id, new Date(topic.createdAt).toISOString()]),
  );
  const described = await describeSubscriptions(messages, readable, now);
  const activity = (one: SubscriptionJson): string => one.topic_last_message_at ?? created.get(one.id)!;
  return described.sort(
    (a, b) => Number(b.is_pinned) - Number(a.is_pinned) || compare(activity(b), activity(a)) || compare(b.id, a.id),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
