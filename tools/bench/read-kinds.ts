import type { SeedResult } from './seed-messages.ts';

/** A kind of read and the paths that request it. */
export interface ReadKind {
  readonly read: string;
  /**
   * Whether the read is a page, which has a latency target. Other reads search text, count the large topic, or return
   * unpaged lists.
   */
  readonly isPage: boolean;
  /** The reading account: the owner of all topics, subscribed to each, or an account with some subscriptions. */
  readonly by: 'owner' | 'subscriber';
  /** Number of readers; default: the size's. 1 measures a single user who waits for a search. */
  readonly readers?: number;
  readonly paths: readonly string[];
}

const pathsPerKind = 97;
const hourMs = 3_600_000;

/** Offsets of pages, in messages. */
const searchDepth = 5_000;

/**
 * Every paged read of messages in each of its forms, then reads that search text, count the large topic, or return
 * unpaged lists.
 */
export function readKinds(seeded: SeedResult, messages: number): ReadKind[] {
  return [
    ...historyKinds(seeded),
    ...logKinds(seeded, messages),
    ...topicKinds(seeded, messages),
    ...accountKinds(seeded),
    ...asideKinds(seeded),
  ];
}

type Path = (turn: number) => string;

function kind(read: string, path: Path, of: Partial<ReadKind> = {}): ReadKind {
  return {
    read,
    isPage: true,
    by: 'owner',
    paths: Array.from({ length: pathsPerKind }, (_, turn) => path(turn)),
    ...of,
  };
}

/** Distributes turns over the small topics and over `count` items. */
const spread = ({ small, middles }: SeedResult) => ({
  topic: (turn: number) => small[(turn * 31) % small.length]!,
  middle: (turn: number) => middles[turn % middles.length]!,
  within: (turn: number, count: number) => Math.floor((turn / pathsPerKind) * Math.max(count - 50, 1)),
});

const iso = (time: number) => new Date(time).toISOString();

function historyKinds(seeded: SeedResult): ReadKind[] {
  const { topic, middle } = spread(seeded);
  const timeIn = (turn: number) => seeded.begun + Math.floor((turn / pathsPerKind) * (seeded.ended - seeded.begun));
  return [
    kind('history', (turn) => `/${topic(turn)}/json?limit=100`),
    kind('history, since=all', (turn) => `/${topic(turn)}/json?limit=100&since=all`),
    kind('history, since id', (turn) => `/${middle(turn).topic}/json?limit=100&since=${middle(turn).id}`),
    kind('history, since time', (turn) => `/${topic(turn)}/json?limit=100&since=${iso(timeIn(turn))}`),
    kind(
      'history, since seconds',
      (turn) => `/${topic(turn)}/json?limit=100&since=${Math.floor(timeIn(turn) / 1_000)}`,
    ),
    kind('history, since duration', (turn) => `/${topic(turn)}/json?limit=100&since=${1 + (turn % 6)}d`),
    kind('large history, since time', (turn) => `/${seeded.large}/json?limit=100&since=${iso(timeIn(turn))}`),
  ];
}

function logKinds(seeded: SeedResult, messages: number): ReadKind[] {
  const { topic, middle, within } = spread(seeded);
  return [
    kind('log', (turn) => `/api/topics/${topic(turn)}/log?from_offset=${within(turn, messages)}`),
    kind('log, from time', (turn) => `/api/topics/${topic(turn)}/log?from_time=${iso(middle(turn).timestamp)}`),
    kind('large log', (turn) => `/api/topics/${seeded.large}/log?from_offset=${within(turn, messages)}`),
  ];
}

function topicKinds(seeded: SeedResult, messages: number): ReadKind[] {
  const { topic, middle, within } = spread(seeded);
  const { large } = seeded;
  const perTopic = Math.floor((messages * 0.9) / seeded.small.length);
  const hourFrom = (turn: number) =>
    `date_from=${iso(middle(turn).timestamp)}&date_to=${iso(middle(turn).timestamp + hourMs)}`;
  const list = (turn: number) => `limit=100&offset=${within(turn, seeded.small.length)}`;
  return [
    kind('topic page', (turn) => `/api/topics/${topic(turn)}/messages?offset=${within(turn, perTopic)}`),
    kind(
      'topic page, by number',
      (turn) =>
        `/api/topics/${topic(turn)}/messages?page=${1 + (turn % Math.max(1, Math.floor(perTopic / 100)))}&per_page=100`,
    ),
    kind('topic page, filtered', (turn) => `/api/topics/${topic(turn)}/messages?priority_min=4&tags=disk,pump`),
    kind(
      'topic page, of a day',
      (turn) => `/api/topics/${topic(turn)}/messages?date_from=${iso(middle(turn).timestamp).slice(0, 10)}`,
    ),
    kind('topic page, deleted too', (turn) => `/api/topics/${topic(turn)}/messages?include_deleted=true`),
    kind('large topic page', (turn) => `/api/topics/${large}/messages?offset=${within(turn, messages / 10)}`),
    kind('large topic page, of an hour', (turn) => `/api/topics/${large}/messages?${hourFrom(turn)}`),
    kind('topics', (turn) => `/api/topics?${list(turn)}`),
    kind('topics, own', (turn) => `/api/topics/my?${list(turn)}`),
    kind('topics, public', (turn) => `/api/topics/public?${list(turn)}`),
  ];
}

function accountKinds(seeded: SeedResult): ReadKind[] {
  const { topic, within } = spread(seeded);
  return [
    kind('search page', (turn) => `/api/messages/search?offset=${within(turn, 1_000)}`),
    kind('search page, deep', (turn) => `/api/messages/search?offset=${within(turn, searchDepth)}`),
    kind('search page, of a topic', (turn) => `/api/messages/search?topic=${topic(turn)}&priority_max=2`),
    kind('search page, some topics', (turn) => `/api/messages/search?offset=${within(turn, 1_000)}`, {
      by: 'subscriber',
    }),
    kind('recent', () => '/api/messages/recent'),
    kind('recent, some topics', () => '/api/messages/recent?limit=200', { by: 'subscriber' }),
    kind('recent, of a topic', (turn) => `/api/messages/recent?topic=${topic(turn)}`),
    kind(
      'activity of a topic',
      (turn) => `/api/messages/activity?topics=${topic(turn)}&start_date=${iso(seeded.begun)}`,
    ),
    kind('subscriptions, some', () => '/api/subscriptions', { by: 'subscriber' }),
  ];
}

function asideKinds(seeded: SeedResult): ReadKind[] {
  const { large } = seeded;
  const lastDay = `start_date=${iso(seeded.ended - 24 * hourMs)}&end_date=${iso(seeded.ended)}`;
  const aside = (read: string, path: Path, readers?: number) =>
    kind(read, path, { isPage: false, ...(readers === undefined ? {} : { readers }) });
  return [
    aside('large topic, counted', () => `/api/topics/${large}/messages?priority_min=4&tags=disk,pump`),
    aside('search, counted', () => '/api/messages/search?priority_min=4'),
    aside('activity of all', () => `/api/messages/activity?${lastDay}`),
    aside('subscriptions, all', () => '/api/subscriptions'),
    aside('log of 1,000', (turn) => `/api/topics/${large}/log?limit=1000&from_offset=${turn}`),
    aside('text in large topic, none', () => `/api/topics/${large}/messages?q=zebra`, 1),
    aside('text in large topic, some', (turn) => `/api/topics/${large}/messages?q=${turn}0`, 1),
    aside('text in all topics', () => '/api/messages/search?q=zebra', 1),
    aside('text in all topics, concurrently', () => '/api/messages/search?q=zebra'),
  ];
}
