import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newClaim, newId } from '../../testing/builders.ts';
import { linesOfProcess } from '../../testing/lines-of-process.ts';
import { killAfterLines } from '../../testing/write-until-killed.ts';
import { describeRecipients } from './deliveries-recipients.contract.ts';
import { ledgerAgreesWithModel } from './deliveries-model.contract.ts';
import type { Claim, Deliveries, Delivery, Outcome } from '../../ports/deliveries.ts';
import { type Documents } from '../../ports/documents.ts';

/** A storage used only by the test. */
export interface DeliveriesFixture {
  /** Opens the storage like another process; closed with the fixture. */
  open(): Promise<{ documents: Documents; deliveries: Deliveries }>;
  /** Module code that opens the storage in another process, as `deliveries`. */
  readonly childCode: string;
  close(): Promise<void>;
}

/** The contract of the deliveries port, which every driver runs on its real engine. */
export function deliveriesContract(name: string, start: () => Promise<DeliveriesFixture>): void {
  describe(`${name} keeps deliveries`, () => {
    let fixture: DeliveriesFixture;
    let opened: Awaited<ReturnType<DeliveriesFixture['open']>>;
    beforeAll(async () => {
      fixture = await start();
      opened = await fixture.open();
    });
    afterAll(() => fixture.close());

    describeRecipients(() => opened);
    describeClaims(
      () => fixture,
      () => opened.deliveries,
    );
    describeLedger(() => opened.deliveries);
    describeRemoval(start);
    test('any sequence of claims and outcomes matches the model', () => ledgerAgreesWithModel(opened.deliveries));
  });
}

const claimsOf = (messageId: string, count: number) => Array.from({ length: count }, () => newClaim(messageId));
const idsOf = (claims: readonly { deviceId: string }[]) => new Set(claims.map(({ deviceId }) => deviceId));
const outcomesOf = (claims: readonly Claim[], given: Pick<Outcome, 'status'> & Partial<Outcome>): Outcome[] =>
  claims.map((claim) => ({ ...claim, reason: null, ...given }));
const now = 1_800_000_000_000;
const staleAfterMs = 60_000;

function describeClaims(fixture: () => DeliveriesFixture, at: () => Deliveries): void {
  test('a claim stores a pending row with its first attempt and is granted once', async () => {
    const claims = claimsOf(newId(), 3);
    expect(await at().claim([...claims, claims[0]!], { now, staleAfterMs })).toEqual(idsOf(claims));
    expect(await at().claim(claims, { now, staleAfterMs })).toEqual(new Set());
    const expected = claims.map((claim): Delivery => ({
      ...claim,
      status: 'pending',
      reason: null,
      attempts: 1,
      retryAt: null,
      updatedAt: now,
    }));
    expect(await at().find(claims[0]!.messageId, { limit: 10 })).toEqual(expected);
    expect(await at().claim([], { now, staleAfterMs })).toEqual(new Set());
  });

  test('grants claims of one device per message', async () => {
    const claim = newClaim(newId());
    expect(await at().claim([claim], { now, staleAfterMs })).toEqual(idsOf([claim]));
    expect(await at().claim([{ ...claim, messageId: newId() }], { now, staleAfterMs })).toEqual(idsOf([claim]));
  });

  test('a stale pending claim is taken over once', async () => {
    const [old, young] = claimsOf(newId(), 2);
    await at().claim([old!], { now: now - staleAfterMs - 1, staleAfterMs });
    await at().claim([young!], { now: now - staleAfterMs, staleAfterMs });
    const again = newClaim(old!.messageId);
    expect(await at().claim([old!, young!, again], { now, staleAfterMs })).toEqual(idsOf([old!, again]));
    expect(await at().claim([old!, young!, again], { now, staleAfterMs })).toEqual(new Set());
    expect(
      (await at().find(old!.messageId, { limit: 9 })).map(({ attempts, updatedAt }) => [attempts, updatedAt]),
    ).toEqual([
      [2, now],
      [1, now - staleAfterMs],
      [1, now],
    ]);
  });

  test('a retrying push can be claimed when it is due', async () => {
    const [due, later, any] = claimsOf(newId(), 3);
    await at().record(
      [
        ...outcomesOf([due!], { status: 'retrying', reason: '503', retryAt: now }),
        ...outcomesOf([later!], { status: 'retrying', reason: '503', retryAt: now + 1 }),
        ...outcomesOf([any!], { status: 'retrying' }),
      ],
      now - 1_000,
    );
    expect(await at().claim([due!, later!, any!], { now, staleAfterMs })).toEqual(idsOf([due!, any!]));
    expect(await at().claim([due!, later!, any!], { now: now + 1, staleAfterMs })).toEqual(idsOf([later!]));
    expect(await at().find(due!.messageId, { limit: 1 })).toMatchObject([
      { status: 'pending', reason: null, retryAt: null, attempts: 1, updatedAt: now },
    ]);
  });

  test('finished pushes cannot be claimed', async () => {
    const claims = claimsOf(newId(), 4);
    const ended = (['sent', 'skipped', 'dead_token', 'failed'] as const)
      .map((status, place) => outcomesOf([claims[place]!], { status }))
      .flat();
    await at().record(ended, now - 10 * staleAfterMs);
    expect(await at().claim(claims, { now, staleAfterMs })).toEqual(new Set());
  });

  test('finished pushes can be claimed again by status, once, except sent or claimed ones', async () => {
    const claims = claimsOf(newId(), 5);
    const ended = (['sent', 'skipped', 'dead_token', 'failed'] as const)
      .map((status, place) => outcomesOf([claims[place]!], { status, reason: 'x' }))
      .flat();
    await at().claim(claims.slice(4), { now, staleAfterMs });
    await at().record(ended, now - 10 * staleAfterMs);
    expect(await at().claim(claims, { now, staleAfterMs, again: ['failed'] })).toEqual(idsOf([claims[3]!]));
    expect(await at().claim(claims, { now, staleAfterMs, again: ['failed', 'skipped', 'dead_token'] })).toEqual(
      idsOf(claims.slice(1, 3)),
    );
    expect(await at().claim(claims, { now, staleAfterMs, again: ['failed', 'skipped', 'dead_token'] })).toEqual(
      new Set(),
    );
    expect(
      (await at().find(claims[0]!.messageId, { limit: 5 })).map(({ status, reason, attempts }) => [
        status,
        reason,
        attempts,
      ]),
    ).toEqual([
      ['sent', 'x', 0],
      ['pending', null, 1],
      ['pending', null, 1],
      ['pending', null, 1],
      ['pending', null, 1],
    ]);
  });

  test('rejects claims of several messages, and too many claims', async () => {
    await expect(at().claim([newClaim(newId()), newClaim(newId())], { now, staleAfterMs })).rejects.toThrow(RangeError);
    await expect(at().claim(claimsOf(newId(), 1_001), { now, staleAfterMs })).rejects.toThrow(RangeError);
  });

  const prepared = async (messageId: string): Promise<Claim[]> => {
    const [fresh, stale, due] = [claimsOf(messageId, 200), claimsOf(messageId, 150), claimsOf(messageId, 150)];
    await at().claim(stale, { now: now - staleAfterMs - 1, staleAfterMs });
    await at().record(outcomesOf(due, { status: 'retrying', retryAt: now }), now);
    return [...fresh, ...stale, ...due];
  };

  test('grants concurrent claims of many messages, except those that are taken', async () => {
    const all = Array.from({ length: 40 }, (_, place) => claimsOf(newId(), 1 + (place % 20)));
    const taken = all.map((claims, place) => claims.slice(0, place % 3));
    await Promise.all(taken.map((claims) => at().claim(claims, { now, staleAfterMs })));
    const granted = await Promise.all(all.map((claims) => at().claim(claims, { now, staleAfterMs })));
    expect(granted).toEqual(all.map((claims, place) => idsOf(claims.slice(taken[place]!.length))));
  });

  test('grants each device to one of 8 concurrent claimers', async () => {
    const claims = await prepared(newId());
    const stores = await Promise.all(Array.from({ length: 4 }, async () => (await fixture().open()).deliveries));
    const won = await Promise.all(
      [...stores, ...stores].map((store, place) =>
        store.claim([...claims.slice(place * 50), ...claims.slice(0, place * 50)], { now, staleAfterMs }),
      ),
    );
    expect(won.flatMap((ids) => [...ids]).sort()).toEqual([...idsOf(claims)].sort());
  });

  test('grants each device to one of several concurrent processes', async () => {
    const claims = await prepared(newId());
    const code = `${fixture().childCode}
      const claims = ${JSON.stringify(claims)};
      for (let from = 0; from < claims.length; from += 20) {
        const won = await deliveries.claim(claims.slice(from, from + 20), { now: ${now}, staleAfterMs: ${staleAfterMs} });
        for (const id of won) process.stdout.write(id + '\\n');
      }
      process.stdout.write('', () => process.exit(0));`;
    const won = await Promise.all([code, code, code].map(linesOfProcess));
    expect(won.flat().sort()).toEqual([...idsOf(claims)].sort());
  });

  test('another process takes over stale claims of a killed process', async () => {
    const claims = claimsOf(newId(), 50);
    const printed = await killAfterLines(
      `${fixture().childCode}
      const won = await deliveries.claim(${JSON.stringify(claims)}, { now: ${now}, staleAfterMs: ${staleAfterMs} });
      for (const id of won) process.stdout.write(id + '\\n');
      setInterval(() => undefined, 1_000);`,
      claims.length,
    );
    expect(new Set(printed)).toEqual(idsOf(claims));
    expect(await at().claim(claims, { now: now + staleAfterMs, staleAfterMs })).toEqual(new Set());
    expect(await at().claim(claims, { now: now + staleAfterMs + 1, staleAfterMs })).toEqual(idsOf(claims));
    expect(new Set((await at().find(claims[0]!.messageId, { limit: 50 })).map(({ attempts }) => attempts))).toEqual(
      new Set([2]),
    );
  });
}

function describeLedger(at: () => Deliveries): void {
  test('stores an outcome with its reason and keeps the attempts', async () => {
    const claim = newClaim(newId());
    await at().claim([claim], { now, staleAfterMs });
    await at().record(
      outcomesOf([claim], { status: 'retrying', reason: 'TooManyRequests', retryAt: now + 5 }),
      now + 1,
    );
    expect(await at().find(claim.messageId, { limit: 1 })).toEqual([
      { ...claim, status: 'retrying', reason: 'TooManyRequests', attempts: 1, retryAt: now + 5, updatedAt: now + 1 },
    ]);
    await at().record(outcomesOf([claim], { status: 'sent' }), now + 2);
    expect(await at().find(claim.messageId, { limit: 1 })).toEqual([
      { ...claim, status: 'sent', reason: null, attempts: 1, retryAt: null, updatedAt: now + 2 },
    ]);
  });

  test('a skip needs no claim, and the last outcome of a device wins', async () => {
    const claim = newClaim(newId());
    await at().record(
      [
        ...outcomesOf([claim], { status: 'failed', reason: 'x' }),
        ...outcomesOf([claim], { status: 'skipped', reason: 'no access' }),
      ],
      now,
    );
    expect(await at().find(claim.messageId, { limit: 2 })).toEqual([
      { ...claim, status: 'skipped', reason: 'no access', attempts: 0, retryAt: null, updatedAt: now },
    ]);
  });

  test('a sent push is not overwritten by a later skip or retry, but by a later result of the provider', async () => {
    const [skipped, retrying, dead] = claimsOf(newId(), 3);
    await at().record(outcomesOf([skipped!, retrying!, dead!], { status: 'sent' }), now);
    await at().record(
      [
        ...outcomesOf([skipped!], { status: 'skipped', reason: 'no access' }),
        ...outcomesOf([retrying!], { status: 'retrying', retryAt: now }),
        ...outcomesOf([dead!], { status: 'dead_token', reason: 'DeviceNotRegistered' }),
      ],
      now + 1,
    );
    expect(
      (await at().find(dead!.messageId, { limit: 3 })).map(({ status, updatedAt }) => [status, updatedAt]),
    ).toEqual([
      ['sent', now],
      ['sent', now],
      ['dead_token', now + 1],
    ]);
  });

  test('stores concurrent outcomes of many messages, with and without a claim', async () => {
    const statuses = ['sent', 'failed', 'skipped', 'retrying', 'dead_token'] as const;
    const all = Array.from({ length: 40 }, (_, place) =>
      outcomesOf(claimsOf(newId(), 1 + (place % 20)), {
        status: statuses[place % 5]!,
        reason: place % 2 === 0 ? null : `reason ${place}`,
        ...(place % 5 === 3 ? { retryAt: now + place } : {}),
      }),
    );
    const claimed = all.filter((_, place) => place % 4 !== 0);
    await Promise.all(claimed.map((outcomes) => at().claim(outcomes, { now, staleAfterMs })));
    await Promise.all(all.map((outcomes) => at().record(outcomes, now + 1)));
    const found = await Promise.all(all.map(([first]) => at().find(first!.messageId, { limit: 20 })));
    expect(found).toEqual(
      all.map((outcomes, place) =>
        outcomes.map((outcome) => ({
          retryAt: null,
          ...outcome,
          attempts: place % 4 === 0 ? 0 : 1,
          updatedAt: now + 1,
        })),
      ),
    );
  });

  test('stores thousands of mixed outcomes in one call', async () => {
    const claims = claimsOf(newId(), 2_300);
    await at().claim(claims.slice(0, 1_000), { now, staleAfterMs });
    const statuses = ['sent', 'skipped', 'failed'] as const;
    await at().record(
      claims.flatMap((claim, place) =>
        outcomesOf([claim], { status: statuses[place % 3]!, reason: place % 3 === 2 ? `reason ${place % 40}` : null }),
      ),
      now,
    );
    expect(await at().counts(claims[0]!.messageId)).toMatchObject({ sent: 767, skipped: 767, failed: 766, pending: 0 });
    await at().record([], now);
  });

  test('finds rows by user, by devices, or all of a message, in device order', async () => {
    const messageId = newId();
    const userId = newId();
    const [mine, alsoMine, other] = [
      newClaim(messageId, { userId }),
      newClaim(messageId, { userId }),
      newClaim(messageId),
    ];
    await at().record(outcomesOf([other, alsoMine, mine, newClaim(newId(), { userId })], { status: 'sent' }), now);
    const find = async (filter: Parameters<Deliveries['find']>[1]) =>
      (await at().find(messageId, filter)).map(({ deviceId }) => deviceId);
    expect(await find({ limit: 10 })).toEqual([mine, alsoMine, other].map(({ deviceId }) => deviceId));
    expect(await find({ limit: 2 })).toEqual([mine, alsoMine].map(({ deviceId }) => deviceId));
    expect(await find({ after: mine.deviceId, limit: 10 })).toEqual([alsoMine, other].map(({ deviceId }) => deviceId));
    expect(await find({ after: other.deviceId, limit: 10 })).toEqual([]);
    expect(await find({ userId, limit: 10 })).toEqual([mine, alsoMine].map(({ deviceId }) => deviceId));
    expect(await find({ deviceIds: [other.deviceId, mine.deviceId, newId()], limit: 10 })).toEqual([
      mine.deviceId,
      other.deviceId,
    ]);
    expect(await find({ userId, deviceIds: [other.deviceId, mine.deviceId], limit: 10 })).toEqual([mine.deviceId]);
    expect(await find({ deviceIds: [], limit: 10 })).toEqual([]);
    expect(await find({ limit: 0 })).toEqual([]);
    await expect(find({ deviceIds: Array.from({ length: 1_001 }, () => 'x'), limit: 1 })).rejects.toThrow(RangeError);
  });

  test('counts contain an entry for every status', async () => {
    const claims = claimsOf(newId(), 5);
    expect(await at().counts(newId())).toEqual({
      pending: 0,
      sent: 0,
      skipped: 0,
      retrying: 0,
      dead_token: 0,
      failed: 0,
    });
    await at().claim(claims, { now, staleAfterMs });
    await at().record(
      [...outcomesOf(claims.slice(0, 2), { status: 'sent' }), ...outcomesOf(claims.slice(2, 3), { status: 'failed' })],
      now,
    );
    expect(await at().counts(claims[0]!.messageId)).toEqual({
      pending: 2,
      sent: 2,
      skipped: 0,
      retrying: 0,
      dead_token: 0,
      failed: 1,
    });
  });

  test('accepts IDs that are not UUIDs', async () => {
    const claim: Claim = {
      messageId: `m/${randomUUID()}`,
      deviceId: "d'$ne",
      topicId: 'T',
      userId: '',
      subscriptionId: randomUUID().toUpperCase(),
      platform: 'expo',
    };
    expect(await at().claim([claim], { now, staleAfterMs })).toEqual(idsOf([claim]));
    expect(await at().find(claim.messageId, { userId: '', limit: 2 })).toMatchObject([claim]);
    expect(await at().counts(claim.messageId)).toMatchObject({ pending: 1 });
  });
}

function describeRemoval(start: () => Promise<DeliveriesFixture>): void {
  test('removes rows by their last change, oldest first, up to the limit', async () => {
    const fixture = await start();
    const { deliveries } = await fixture.open();
    const claims = claimsOf(newId(), 6);
    for (const [place, claim] of claims.entries()) await deliveries.claim([claim], { now: now + place, staleAfterMs });
    await deliveries.record(outcomesOf([claims[0]!], { status: 'sent' }), now + 10);
    const left = async () =>
      (await deliveries.find(claims[0]!.messageId, { limit: 10 })).map(({ deviceId }) =>
        claims.findIndex((claim) => claim.deviceId === deviceId),
      );
    expect(await deliveries.removeBefore(now + 5, 3)).toBe(3);
    expect(await left()).toEqual([0, 4, 5]);
    expect(await deliveries.removeBefore(now + 5, 3)).toBe(1);
    expect(await deliveries.removeBefore(now + 5, 3)).toBe(0);
    expect(await left()).toEqual([0, 5]);
    expect(await deliveries.removeBefore(now + 11, 0)).toBe(0);
    expect(await deliveries.removeBefore(now + 11, 10)).toBe(2);
    await fixture.close();
  });

  test('removes only rows of one user, up to the limit', async () => {
    const fixture = await start();
    const { deliveries } = await fixture.open();
    const [messageId, userId] = [newId(), newId()];
    const mine = [...Array.from({ length: 3 }, () => newClaim(messageId, { userId })), newClaim(newId(), { userId })];
    const others = newClaim(messageId);
    for (const claim of [...mine, others]) await deliveries.claim([claim], { now, staleAfterMs });
    expect(await deliveries.removeOfUser(newId(), 10)).toBe(0);
    expect(await deliveries.removeOfUser(userId, 0)).toBe(0);
    expect(await deliveries.removeOfUser(userId, 3)).toBe(3);
    expect(await deliveries.removeOfUser(userId, 3)).toBe(1);
    expect(await deliveries.removeOfUser(userId, 3)).toBe(0);
    expect((await deliveries.find(messageId, { limit: 10 })).map(({ deviceId }) => deviceId)).toEqual([
      others.deviceId,
    ]);
    await fixture.close();
  });
}
