import { computed, effect, signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { session } from '../api/session.ts';
import type { Message, Subscription, Team, Topic } from '../api/wire.ts';

/** What the navigation and the home page show of the account's topics. */
interface Inbox {
  readonly subscriptions: readonly Subscription[];
  /** Topics that the account owns or reaches through a team. */
  readonly topics: readonly Topic[];
  readonly teams: readonly Team[];
  /** The newest known message of each subscribed topic, by topic ID. */
  readonly newest: ReadonlyMap<string, Message>;
}

/** Null until it is loaded. */
export const inbox = signal<Inbox | null>(null);

effect(() => {
  if (session.value === null) inbox.value = null;
});

const topicsMax = 100;
const recentMax = 100;

/** Names of all topics of the inbox, subscribed ones first. */
export const knownTopics = computed<readonly string[]>(() => {
  const { subscriptions = [], topics = [] } = inbox.value ?? {};
  return [...new Set([...subscriptions.map(({ topic_name }) => topic_name), ...topics.map(({ name }) => name)])];
});

export async function loadInbox(): Promise<void> {
  const [{ subscriptions }, mine, reachable, recent, teams] = await Promise.all([
    call<{ subscriptions: Subscription[] }>('GET', '/api/subscriptions'),
    call<Topic[]>('GET', `/api/topics/my?limit=${topicsMax}`),
    call<Topic[]>('GET', `/api/topics?limit=${topicsMax}`),
    call<Message[]>('GET', `/api/messages/recent?limit=${recentMax}`),
    call<Team[]>('GET', '/api/teams'),
  ]);
  // The list also contains listed topics of teams to which the account does not belong.
  const ofTeams = reachable.filter(
    ({ id, team_id }) => teams.some((team) => team.id === team_id) && !mine.some((topic) => topic.id === id),
  );
  const newest = new Map(recent.toReversed().map((message) => [message.topic_id, message]));
  inbox.value = {
    subscriptions: subscriptions.toSorted(pinnedThenNewest),
    topics: [...mine, ...ofTeams],
    teams,
    newest,
  };
}

function pinnedThenNewest(one: Subscription, other: Subscription): number {
  if (one.is_pinned !== other.is_pinned) return one.is_pinned ? -1 : 1;
  return (other.topic_last_message_at ?? '').localeCompare(one.topic_last_message_at ?? '');
}

/** Counts a message that a stream delivered. */
export function countMessage(message: Message): void {
  if (inbox.value === null) return;
  const { subscriptions, newest } = inbox.value;
  inbox.value = {
    ...inbox.value,
    newest: new Map(newest).set(message.topic_id, message),
    subscriptions: subscriptions.map((subscription) =>
      subscription.topic_id === message.topic_id
        ? { ...subscription, unread_count: subscription.unread_count + 1, topic_last_message_at: message.timestamp }
        : subscription,
    ),
  };
}

export function subscriptionTo(topicId: string): Subscription | undefined {
  return inbox.value?.subscriptions.find(({ topic_id }) => topic_id === topicId);
}

/** Marks all messages of a subscription as read. */
export async function markViewed({ id }: Subscription): Promise<void> {
  if (inbox.value !== null) {
    const subscriptions = inbox.value.subscriptions.map((one) => (one.id === id ? { ...one, unread_count: 0 } : one));
    inbox.value = { ...inbox.value, subscriptions };
  }
  await call('POST', `/api/subscriptions/${id}/viewed`);
}
