import { expect } from '@jest/globals';
import fc from 'fast-check';
import { DeliveriesModel } from './deliveries-model.ts';
import type { Claim, Deliveries, Outcome } from '../../ports/deliveries.ts';

/** So few devices that claims and outcomes conflict. A device belongs to one user. */
const messageId = fc.constantFrom('model-m1', 'model-m2');
const device = fc.constantFrom(
  ...['1', '2', '3', '4'].map((digit) => ({ deviceId: `model-d${digit}`, userId: `model-u${Number(digit) % 2}` })),
);
const claimOf = (message: string, one: { deviceId: string; userId: string }): Claim => ({
  messageId: message,
  ...one,
  topicId: 'model-t',
  subscriptionId: `model-s-${one.userId}`,
  platform: 'android',
});

/** Far below the times of all other tests, because removal depends only on time. */
const time = fc.integer({ min: 0, max: 12 });
const timeMax = 100;

const outcome = fc.record({
  status: fc.constantFrom('sent', 'skipped', 'retrying', 'dead_token', 'failed'),
  reason: fc.option(fc.constantFrom('a', 'b')),
  retryAt: fc.option(time, { nil: undefined }),
}) as fc.Arbitrary<Pick<Outcome, 'status' | 'reason' | 'retryAt'>>;

type Store = Pick<Deliveries | DeliveriesModel, 'claim' | 'record' | 'find' | 'counts'> & {
  removeBefore(time: number, limit: number): unknown;
  removeOfUser(userId: string, limit: number): unknown;
};
type Step = (store: Store) => unknown;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(messageId, fc.array(device, { minLength: 1, maxLength: 5 }), time, fc.constantFrom(1, 3))
      .map(([message, of, now, staleAfterMs]) =>
        named(
          `claim ${message} ${of.map(({ deviceId }) => deviceId).join()} at ${now} stale ${staleAfterMs}`,
          (store: Store) =>
            store.claim(
              unique(of).map((one) => claimOf(message, one)),
              { now, staleAfterMs },
            ),
        ),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(fc.tuple(messageId, device, outcome), { minLength: 1, maxLength: 5 }), time)
      .map(([of, now]) =>
        named(`record ${JSON.stringify(of)} at ${now}`, (store: Store) =>
          store.record(
            of.map(([message, one, given]) => ({ ...claimOf(message, one), ...given })),
            now,
          ),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        messageId,
        fc.option(device, { nil: undefined }),
        fc.option(fc.array(device), { nil: undefined }),
        fc.integer({ min: 1, max: 5 }),
      )
      .map(([message, user, of, limit]) =>
        named('find', (store: Store) =>
          store.find(message, { userId: user?.userId, deviceIds: of?.map(({ deviceId }) => deviceId), limit }),
        ),
      ),
  },
  { weight: 1, arbitrary: messageId.map((message) => named('counts', (store: Store) => store.counts(message))) },
  {
    weight: 1,
    arbitrary: time.map((before) =>
      named(`remove before ${before}`, (store: Store) => store.removeBefore(before, 1_000)),
    ),
  },
  {
    weight: 1,
    arbitrary: device.map(({ userId }) =>
      named(`remove of ${userId}`, (store: Store) => store.removeOfUser(userId, 1_000)),
    ),
  },
);

function named(name: string, step: Step): Step {
  return Object.assign(step, { [fc.toStringMethod]: () => name });
}

function unique<T extends { readonly deviceId: string }>(devices: readonly T[]): T[] {
  return [...new Map(devices.map((one) => [one.deviceId, one])).values()];
}

/** Runs random sequences of operations on the ledger and on the model, and compares every result. */
export async function ledgerAgreesWithModel(
  deliveries: Deliveries,
  runs = Number(process.env.MODEL_RUNS ?? 60),
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      await deliveries.removeBefore(timeMax, 1_000);
      const model = new DeliveriesModel();
      for (const one of steps) expect(await one(deliveries)).toEqual(await one(model));
      for (const message of ['model-m1', 'model-m2'])
        expect(await deliveries.find(message, { limit: 10 })).toEqual(model.find(message, { limit: 10 }));
    }),
    { numRuns: runs, endOnFailure: false },
  );
}
