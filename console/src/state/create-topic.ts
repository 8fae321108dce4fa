import { call } from '../api/call.ts';
import type { Topic } from '../api/wire.ts';
import { loadInbox } from './inbox.ts';

/** Creates the topic and subscribes the account to it. Resolves with the topic's name. Throws CallFailed. */
export async function createTopic(json: object): Promise<string> {
  const { name } = await call<Topic>('POST', '/api/topics', { json });
  // Unread counts need a subscription. Without one the topic works, and its page offers to subscribe.
  await call('POST', '/api/subscriptions', { json: { topic_name: name } }).catch(() => undefined);
  // The pages load what they show; the navigation can wait for the next refresh.
  await loadInbox().catch(() => undefined);
  return name;
}
