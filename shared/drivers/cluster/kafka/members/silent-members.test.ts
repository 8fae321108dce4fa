import { expect, test } from '@jest/globals';
import { newBeatingClientId, SilentMembers } from './silent-members.ts';

const sessionTimeoutMs = 10_000;
const [own, other] = [newBeatingClientId(), newBeatingClientId()];
const member = { memberId: `${other}-1`, clientId: other };

/** A process that receives its own beats twice a second while time passes. */
function listener() {
  let now = 0;
  const members = new SilentMembers({ sessionTimeoutMs });
  members.ownId = own;
  members.hear(own, now);
  return {
    members,
    get now() {
      return now;
    },
    /** Lets time pass, with the beats of these clients. */
    pass(ms: number, ...beating: string[]) {
      for (const end = now + ms; now < end;) {
        now += 500;
        for (const clientId of beating) members.hear(clientId, now);
      }
    },
    silent: () => members.silent(now),
    /** Removes the members that are due while the broker lists this one. */
    remove(listed = member) {
      const removed = members.toRemove([listed], now);
      for (const one of removed) members.countRemoval(one, now);
      return removed;
    },
  };
}

test('removes a member after three missing beats', () => {
  const { members, pass, silent, remove } = listener();
  members.hear(other, 0);
  pass(1_000, own);
  expect([silent(), remove()]).toEqual([[], []]);
  pass(500, own);
  expect(silent()).toEqual([other]);
  expect(remove()).toEqual([member]);
});

test('keeps a member that beats', () => {
  const { pass, remove } = listener();
  pass(60_000, own, other);
  expect(remove()).toEqual([]);
});

test('removes a listed member that was never heard, 1.5 s after it was first listed', () => {
  const { pass, remove } = listener();
  pass(60_000, own);
  expect(remove()).toEqual([]);
  pass(1_000, own);
  expect(remove()).toEqual([]);
  pass(500, own);
  expect(remove()).toEqual([member]);
});

test('keeps members of earlier versions, which send no beats, and itself', () => {
  const at = listener();
  const listed = [
    { memberId: 'tocsin-1', clientId: 'tocsin' },
    { memberId: `${own}-1`, clientId: own },
  ];
  at.members.toRemove(listed, at.now);
  at.pass(60_000, own);
  expect(at.members.toRemove(listed, at.now)).toEqual([]);
});

test('keeps all members while it does not receive its own beats, and for 6.5 s after it receives them again', () => {
  const { members, pass, silent } = listener();
  members.hear(other, 0);
  pass(60_000);
  expect(silent()).toEqual([]);
  pass(6_500, own);
  expect(silent()).toEqual([]);
  pass(500, own);
  expect(silent()).toEqual([other]);
});

test('keeps a member whose beats may wait to be read, because its own last beat is old', () => {
  const at = listener();
  at.pass(5_000, own, other);
  at.pass(1_000, own);
  expect(at.members.silent(at.now + 751)).toEqual([]);
});

test('keeps a member that runs without beats after three removals, for ten minutes', () => {
  const { members, pass, remove } = listener();
  members.hear(other, 0);
  const removedAfterMs: number[] = [];
  for (let ms = 500, session = 1; ms <= 300_000; ms += 500) {
    pass(500, own);
    // A removed member rejoins with another ID.
    if (remove({ memberId: `${other}-${session}`, clientId: other }).length === 0) continue;
    session += 1;
    removedAfterMs.push(ms);
  }
  expect(removedAfterMs).toEqual([1_500, 4_500, 10_500]);
  pass(310_500, own);
  remove();
  pass(1_500, own);
  expect(remove()).toEqual([member]);
});

test('counts removals by other members, and the same one once', () => {
  const { members, pass, remove } = listener();
  members.hear(other, 0);
  pass(1_500, own);
  for (let n = 0; n < 5; n += 1) members.countRemoval({ ...member, memberId: 'removed' }, 1_500);
  pass(2_500, own);
  expect(remove()).toEqual([]);
  pass(500, own);
  expect(remove()).toEqual([member]);
});

test('forgets members that left, and silent ones that the broker does not list', () => {
  const { members, pass, silent, now } = listener();
  members.hear(other, now);
  members.forget(other);
  pass(1_500, own);
  expect(silent()).toEqual([]);
  const gone = newBeatingClientId();
  members.hear(gone, 1_500);
  pass(1_500, own);
  expect(silent()).toEqual([gone]);
  expect(members.toRemove([], 3_000)).toEqual([]);
  expect(silent()).toEqual([]);
});

test('tells when the next member is over its limit', () => {
  const { members, pass } = listener();
  expect(members.nextDeadline(0)).toBe(Infinity);
  members.hear(other, 200);
  pass(500, own);
  expect(members.nextDeadline(500)).toBe(1_700);
});
