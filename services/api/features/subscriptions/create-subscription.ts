import { requireTopicAccess } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { defaultMobileSettings, type Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { UniqueKeyViolation, write, type Changes } from '@tocsin/shared/ports/documents.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { subscriptions, subscriptionsPerAccount } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { subscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName, roleOf } from '../../http/load-topic.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSubscriptions } from './describe-subscriptions.ts';
import type { ReadableSubscription } from './readable-subscriptions.ts';
import { newSubscriptionFields, settingsOf } from '../../access/subscription-fields.ts';

const body = z.object({ topic_name: z.string(), ...newSubscriptionFields }).meta({
  examples: [{ topic_name: 'backups', mobile_notification_settings: { priority_threshold: 4, tags_filter: ['db'] } }],
});

/** `POST /api/subscriptions` */
export function createSubscription(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'createSubscription',
    method: 'POST',
    path: '/api/subscriptions',
    summary: 'Subscribe to a topic',
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 201, schema: subscriptionSchema, description: 'The subscription' },
    errors: { 404: 'The topic does not exist.', 409: 'The caller is already subscribed.' },
    async handle(context, { body: fields }) {
      const caller = context.account();
      const topic = await openTopicByName(deps.directory, caller, { name: fields.topic_name, act: 'read' });
      const made = await subscribe(deps, caller, { topicId: topic.id, settings: settingsOf(fields) });
      const [json] = await describeSubscriptions(deps.engine.messages, [made], context.now);
      return { status: 201, body: json };
    },
  });
}

/** Stores the subscription and updates the topic's count. Throws 404 and 403 for the topic, 403 at the limit, 409. */
function subscribe(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId'>,
  caller: AccountCaller,
  wish: { topicId: string; settings: Changes<Subscription> },
): Promise<ReadableSubscription> {
  const { documents } = deps.engine;
  const { userId } = caller;
  const storing = commitWithinQuota(documents, userId, async () => {
    const owner = await requireOwnAccount(documents, userId);
    const topic = await documents.get(topics, wish.topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    requireTopicAccess(caller, topic, 'read', await roleOf(deps.directory, caller, topic));
    const count = await documents.count(subscriptions, { index: 'byUser', equals: { userId } });
    if (count >= subscriptionsPerAccount) throw new AppError('forbidden', 'Subscription limit reached');
    const subscription: Subscription = {
      id: deps.makeId(),
      version: 1,
      userId,
      topicId: topic.id,
      createdAt: deps.clock(),
      lastViewedAt: null,
      lastNotifiedAt: null,
      isPinned: false,
      ...defaultMobileSettings,
      ...wish.settings,
      teamSubscriptionId: null,
      isTeamMade: null,
    };
    return {
      writes: [
        owner,
        write.require(topics, topic),
        write.insert(subscriptions, subscription),
        write.increment(topics, topic.id, { subscriberCount: 1 }),
      ],
      result: { subscription, teamSubscription: null, topic: { ...topic, subscriberCount: topic.subscriberCount + 1 } },
    };
  });
  return storing.catch((error: unknown) => {
    const isTaken = error instanceof UniqueKeyViolation && error.collection === subscriptions.name;
    throw isTaken ? new AppError('conflict', 'Already subscribed', { cause: error }) : error;
  });
}
