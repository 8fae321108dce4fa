import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Change, Directory } from '../directory/directory.ts';
import { OpenStreams, type OpenStream } from './open-streams.ts';

/** Counts reads of the streams' fields, and their checks. */
class Work {
  readonly authorized: string[] = [];
  looks = 0;
}

let work: Work;
let change: (change: Change) => void;
let streams: OpenStreams;
beforeEach(() => {
  work = new Work();
  const directory = {
    onChange: (listener: (change: Change) => void) => ((change = listener), () => undefined),
    makeRoom: () => undefined,
    refresh: () => Promise.resolve(),
  };
  streams = new OpenStreams({
    bus: { announceConnections: () => Promise.resolve(), countConnections: () => Promise.resolve(0) },
    clock: Date.now,
    directory: directory as unknown as Directory,
    log: openLogger('test', 'silent'),
    nodeId: 'node',
  });
});
afterEach(() => streams.close());

const anonymous: Caller = { kind: 'anonymous', address: '192.0.2.1' };
const account = (userId: string): Caller => ({
  kind: 'account',
  name: 'ann',
  userId,
  credentialId: 'id',
  scopes: null,
  tier: 'FREE',
  expiresAt: null,
});
const byToken = (topicId: string): Caller => ({
  kind: 'topic-token',
  name: 'sensor',
  topicId,
  permissions: ['read'],
  credentialId: 'id',
  expiresAt: null,
});

interface Access {
  readonly caller?: Caller;
  readonly credential?: CredentialRef | null;
  readonly topicIds?: readonly string[];
}

/** Opens a stream that reports its checks under the name. Returns a function that closes it. */
function open(name: string, { caller = anonymous, credential = null, topicIds = [`topic of ${name}`] }: Access = {}) {
  const closing: (() => void)[] = [];
  const sink = {
    isClosed: false,
    onClose: (listener: () => void) => void closing.push(listener),
    end: () => close(),
    cutOff: () => close(),
  };
  const close = () => {
    sink.isClosed = true;
    for (const listener of closing.splice(0)) listener();
  };
  const stream: OpenStream = {
    sink,
    ping: () => undefined,
    get topicIds() {
      work.looks += 1;
      return topicIds;
    },
    get caller() {
      work.looks += 1;
      return caller;
    },
    credential,
    authorize: () => (work.authorized.push(name), Promise.resolve(null)),
  };
  streams.add({ release: () => undefined }, stream);
  return close;
}

const login: CredentialRef = { kind: 'login', sessionId: 'session', userId: 'user' } as CredentialRef;
const apiKey: CredentialRef = { kind: 'api-key', secretHash: 'key' };
const topicToken: CredentialRef = { kind: 'topic-token', secretHash: 'token' };

describe('a change checks only the streams that it concerns:', () => {
  const cases: [string, Change, string[]][] = [
    ['a topic', { kind: 'topic', topic: { id: 'b', nameKey: 'b', ownerId: 'user' } }, ['anonymous', 'login']],
    ['an account and all topic tokens', { kind: 'user', userId: 'user' }, ['api-key', 'login', 'topic-token']],
    ['a member', { kind: 'member', teamId: 'team', userId: 'user' }, ['api-key', 'login']],
    ['a login', { kind: 'session', sessionId: 'session' }, ['login']],
    ['an API key', { kind: 'api-key', secretHash: 'key' }, ['api-key']],
    ['a topic token', { kind: 'topic-token', secretHash: 'token' }, ['topic-token']],
    ['no stream for a team', { kind: 'team', teamId: 'team' }, []],
  ];
  test.each(cases)('%s', async (_, changed, concerned) => {
    open('anonymous', { topicIds: ['a', 'b'] });
    open('login', { caller: account('user'), credential: login, topicIds: ['b'] });
    open('api-key', { caller: account('user'), credential: apiKey, topicIds: ['c'] });
    open('topic-token', { caller: byToken('d'), credential: topicToken, topicIds: ['d'] });
    open('other', { caller: account('other'), credential: { kind: 'api-key', secretHash: 'other' }, topicIds: ['e'] });
    change(changed);
    change({ kind: 'topic', topic: { id: 'e', nameKey: 'e', ownerId: 'other' } });
    await eventually(() => expect(work.authorized).toContain('other'));
    expect(work.authorized.filter((name) => name !== 'other').sort()).toEqual(concerned);
  });
});

test('a change does not look at streams that it does not concern', async () => {
  for (let n = 0; n < 10_000; n += 1) open(`${n}`);
  work.looks = 0;
  change({ kind: 'topic', topic: { id: 'topic of 7', nameKey: 'seven', ownerId: 'user' } });
  await eventually(() => expect(work.authorized).toEqual(['7']));
  expect(work.looks).toBeLessThan(10);
});

test('checks each stream once per change, and none that closed meanwhile', async () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `${n}`);
  const closers = names.map((name) => open(name, { topicIds: ['shared'] }));
  change({ kind: 'topic', topic: { id: 'shared', nameKey: 'shared', ownerId: 'user' } });
  closers[999]!();
  await eventually(() => expect(work.authorized).toContain('998'));
  expect(work.authorized).toEqual(names.slice(0, -1));
});

test('checks a stream again for a change during its check', async () => {
  open('a', { topicIds: ['a'] });
  const changed: Change = { kind: 'topic', topic: { id: 'a', nameKey: 'a', ownerId: 'user' } };
  change(changed);
  change(changed);
  await eventually(() => expect(work.authorized).toEqual(['a', 'a']));
});
