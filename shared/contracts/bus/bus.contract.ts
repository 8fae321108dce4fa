import { describeConnections } from './bus-connections.contract.ts';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import { expectBudgetsAsModel } from './budgets-model.contract.ts';
import type { Bus } from '../../ports/bus/bus.ts';
import type { BudgetWindow } from '../../ports/bus/rate-limiter.ts';

/** A bus's storage on its engine, which outlives the bus. */
export interface BusPlace {
  /** Opens a bus at this place; several can be open only if `hasManyNodes`. */
  open(): Promise<Bus>;
  readonly hasManyNodes: boolean;
  /** The time of the clock that the buses use. */
  now(): number;
  /** Advances that clock, or waits until it has advanced. */
  advanceTime(ms: number): Promise<void>;
  remove(): Promise<void>;
}

/** The contract of every bus, with a new place for each test. */
export function busContract(name: string, newPlace: () => Promise<BusPlace>): void {
  describe(`${name}: the bus's contract`, () => {
    let place: BusPlace;
    let opened: Bus[];

    beforeEach(async () => {
      opened = [];
      place = await newPlace();
    });
    afterEach(async () => {
      for (const bus of opened) await bus.close();
      await place.remove();
    });

    const open = async (): Promise<Bus> => {
      const bus = await place.open();
      opened.push(bus);
      return bus;
    };
    /** Opens two nodes if the engine supports it, otherwise returns the same one twice. */
    const openTwo = async (): Promise<[Bus, Bus]> => {
      const one = await open();
      return [one, place.hasManyNodes ? await open() : one];
    };

    channels(open, openTwo);
    budgets(openTwo, () => place);
    budgetWindows(open, () => place);
    test('budgets behave like their model', async () => {
      const [one, two] = await openTwo();
      await expectBudgetsAsModel([one, two], () => place.now());
    });
    describeConnections(openTwo, () => place);
    lifetime(open);
  });
}

const newChannel = (): string => `channel-${randomUUID()}`;

/** A listener that records payloads. */
const collect = () => {
  const seen: string[] = [];
  return { seen, receive: (payload: string) => void seen.push(payload) };
};

function channels(open: () => Promise<Bus>, openTwo: () => Promise<[Bus, Bus]>): void {
  test('delivers payloads in publish order', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    const { seen, receive } = collect();
    await node.subscribe(channel, receive);
    const payloads = Array.from({ length: 2_000 }, (_, n) => `${n}`);
    for (let start = 0; start < payloads.length; start += 37)
      await publisher.publish(channel, payloads.slice(start, start + 37));
    await eventually(() => seen.length >= payloads.length);
    expect(seen).toEqual(payloads);
  });

  test('keeps the order of concurrent publishes of one caller', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    const { seen, receive } = collect();
    await node.subscribe(channel, receive);
    const payloads = Array.from({ length: 300 }, (_, n) => `${n}`);
    await Promise.all(payloads.map((payload) => publisher.publish(channel, [payload])));
    await eventually(() => seen.length >= payloads.length);
    expect(seen).toEqual(payloads);
  });

  test('delivers all payloads of a channel to each subscriber on every node, and none of other channels', async () => {
    const [one, two] = await openTwo();
    const channel = newChannel();
    const readers = [collect(), collect(), collect()];
    await one.subscribe(channel, readers[0]!.receive);
    await one.subscribe(channel, readers[1]!.receive);
    await two.subscribe(channel, readers[2]!.receive);
    const other = collect();
    const otherChannel = newChannel();
    await two.subscribe(otherChannel, other.receive);
    await one.publish(channel, ['a', 'b']);
    await two.publish(otherChannel, ['last']);
    for (const { seen } of readers) await eventually(() => expect(seen).toEqual(['a', 'b']));
    await eventually(() => expect(other.seen).toEqual(['last']));
  });

  test('says that a channel may be heard while any node subscribes to it', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    const subscriptions = [
      await node.subscribe(channel, () => undefined),
      await node.subscribe(channel, () => undefined),
    ];
    expect(publisher.isHeard(channel)).toBe(true);
    await subscriptions[0]!.close();
    expect(publisher.isHeard(channel)).toBe(true);
  });

  test('delivers payloads published right after a subscription is confirmed', async () => {
    const [publisher, node] = await openTwo();
    for (let round = 0; round < 50; round += 1) {
      const channel = newChannel();
      const { seen, receive } = collect();
      await node.subscribe(channel, receive);
      await publisher.publish(channel, ['first']);
      await eventually(() => expect(seen).toEqual(['first']));
    }
  });

  test('confirms a second subscriber no earlier than its channel', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    const readers = [collect(), collect()];
    const first = node.subscribe(channel, readers[0]!.receive);
    await node.subscribe(channel, readers[1]!.receive);
    await publisher.publish(channel, ['now']);
    await eventually(() => expect(readers[1]!.seen).toEqual(['now']));
    await first;
  });

  test('stops a closed subscription, while others of the channel continue', async () => {
    const bus = await open();
    const channel = newChannel();
    const [leaving, staying] = [collect(), collect()];
    const subscribed = await bus.subscribe(channel, leaving.receive);
    await bus.subscribe(channel, staying.receive);
    await bus.publish(channel, ['both']);
    await eventually(() => expect(leaving.seen).toEqual(['both']));
    await subscribed.close();
    await subscribed.close();
    await bus.publish(channel, ['one']);
    await eventually(() => expect(staying.seen).toEqual(['both', 'one']));
    expect(leaving.seen).toEqual(['both']);
  });

  test('delivers to a channel that was unsubscribed and resubscribed immediately', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    for (let round = 0; round < 30; round += 1) {
      const before = await node.subscribe(channel, () => undefined);
      const leaving = before.close();
      const { seen, receive } = collect();
      const after = await node.subscribe(channel, receive);
      await leaving;
      await publisher.publish(channel, [`${round}`]);
      await eventually(() => expect(seen).toEqual([`${round}`]));
      await after.close();
    }
  });

  test('delivers to other listeners if one throws', async () => {
    const bus = await open();
    const channel = newChannel();
    const { seen, receive } = collect();
    await bus.subscribe(channel, () => {
      throw new Error('an error of the listener');
    });
    await bus.subscribe(channel, receive);
    await bus.publish(channel, ['a', 'b']);
    await eventually(() => expect(seen).toEqual(['a', 'b']));
  });

  test('delivers publishes of a listener after the current payload, in the same order for all', async () => {
    const bus = await open();
    const channel = newChannel();
    const { seen, receive } = collect();
    await bus.subscribe(channel, (payload) => {
      if (payload === 'a') void bus.publish(channel, ['answer']);
    });
    await bus.subscribe(channel, receive);
    await bus.publish(channel, ['a', 'b']);
    await eventually(() => expect(seen).toEqual(['a', 'b', 'answer']));
  });

  test('delivers payloads unchanged: empty, long, and with four-byte characters', async () => {
    const [publisher, node] = await openTwo();
    const channel = newChannel();
    const { seen, receive } = collect();
    await node.subscribe(channel, receive);
    const payloads = ['', '{"a":"é\\n"}', '🚨'.repeat(50_000), 'line\r\nline\u0000'];
    await publisher.publish(channel, payloads);
    await eventually(() => expect(seen).toEqual(payloads));
  });

  test('delivers nothing of an empty publish, or of one before the subscription', async () => {
    const bus = await open();
    const channel = newChannel();
    const { seen, receive } = collect();
    await bus.publish(channel, ['before']);
    await bus.subscribe(channel, receive);
    await bus.publish(channel, []);
    await bus.publish(channel, ['after']);
    await eventually(() => expect(seen).toEqual(['after']));
  });
}

/** A unique key; `{…}` keeps a caller's windows on one shard. */
const newKey = (): string => `{${randomUUID()}}`;

const hourMs = 3_600_000;

function budgets(openTwo: () => Promise<[Bus, Bus]>, place: () => BusPlace): void {
  test('accepts exactly the limit of 500 concurrent uses over all nodes', async () => {
    const nodes = await openTwo();
    const key = newKey();
    const windows: BudgetWindow[] = [
      { key: `${key}:minute`, limit: 10, span: { lengthMs: 60_000 } },
      { key: `${key}:day`, limit: 50, span: { endsAt: place().now() + hourMs } },
    ];
    const states = await Promise.all(
      Array.from({ length: 500 }, (_, n) => nodes[n % 2]!.takeBudget(windows, place().now())),
    );
    const accepted = states.filter((state) => state.accepted);
    expect(accepted.length).toBe(10);
    expect(accepted.map((state) => state.windows[0]!.remaining).sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    const after = await nodes[0].peekBudget(windows, place().now());
    expect(after.windows.map(({ remaining }) => remaining)).toEqual([0, 40]);
  });

  test('counts a use in every window or in none', async () => {
    const [one, two] = await openTwo();
    const key = newKey();
    const wide: BudgetWindow = { key: `${key}:hour`, limit: 5, span: { lengthMs: hourMs } };
    const narrow: BudgetWindow = { key: `${key}:minute`, limit: 2, span: { lengthMs: 60_000 } };
    for (let n = 0; n < 2; n += 1) expect((await one.takeBudget([narrow, wide], place().now())).accepted).toBe(true);
    for (let n = 0; n < 3; n += 1) expect((await two.takeBudget([narrow, wide], place().now())).accepted).toBe(false);
    const state = await one.takeBudget([wide], place().now());
    expect(state).toMatchObject({ accepted: true, windows: [{ remaining: 2 }] });
  });

  test('a peek does not count and returns whether a use would be accepted', async () => {
    const [one, two] = await openTwo();
    const window: BudgetWindow = { key: newKey(), limit: 1, span: { lengthMs: hourMs } };
    for (let n = 0; n < 3; n += 1) {
      expect(await one.peekBudget([window], place().now())).toMatchObject({
        accepted: true,
        windows: [{ remaining: 1 }],
      });
    }
    await one.takeBudget([window], place().now());
    expect(await two.peekBudget([window], place().now())).toMatchObject({
      accepted: false,
      windows: [{ remaining: 0 }],
    });
  });

  test('a refund returns one use, and never more than were taken', async () => {
    const [one, two] = await openTwo();
    const window: BudgetWindow = { key: newKey(), limit: 3, span: { lengthMs: hourMs } };
    const remaining = async () => (await one.peekBudget([window], place().now())).windows[0]!.remaining;
    await one.refundBudget([window], place().now());
    expect(await remaining()).toBe(3);
    for (let n = 0; n < 2; n += 1) await one.takeBudget([window], place().now());
    await two.refundBudget([window], place().now());
    expect(await remaining()).toBe(2);
    for (let n = 0; n < 3; n += 1) await two.refundBudget([window], place().now());
    expect(await remaining()).toBe(3);
  });

  test('a changed limit applies to the next use and keeps earlier uses', async () => {
    const [bus] = await openTwo();
    const key = newKey();
    const window = (limit: number): BudgetWindow => ({ key, limit, span: { lengthMs: hourMs } });
    for (let n = 0; n < 3; n += 1) await bus.takeBudget([window(5)], place().now());
    expect(await bus.takeBudget([window(2)], place().now())).toMatchObject({
      accepted: false,
      windows: [{ remaining: 0 }],
    });
    expect(await bus.takeBudget([window(10)], place().now())).toMatchObject({
      accepted: true,
      windows: [{ remaining: 6 }],
    });
    expect(
      await bus.takeBudget([{ key: newKey(), limit: 0, span: { lengthMs: hourMs } }], place().now()),
    ).toMatchObject({ accepted: false });
  });
}

/** The tolerance for two clocks and a round trip. */
const toleranceMs = 1_000;

const expectAbout = (time: number, expected: number) =>
  expect(Math.abs(time - expected)).toBeLessThanOrEqual(toleranceMs);

function budgetWindows(open: () => Promise<Bus>, place: () => BusPlace): void {
  const endOf = async (bus: Bus, window: BudgetWindow) =>
    (await bus.peekBudget([window], place().now())).windows[0]!.resetAt;

  test('a window starts with its first use and ends after its length', async () => {
    const bus = await open();
    const window: BudgetWindow = { key: newKey(), limit: 2, span: { lengthMs: 3_000 } };
    const start = place().now();
    expectAbout(await endOf(bus, window), start + 3_000);
    await bus.takeBudget([window], start);
    const endsAt = await endOf(bus, window);
    await place().advanceTime(600);
    await bus.takeBudget([window], place().now());
    await eventually(async () => expect(Math.abs((await endOf(bus, window)) - endsAt)).toBeLessThanOrEqual(100));
    expect((await bus.takeBudget([window], place().now())).accepted).toBe(false);
    await place().advanceTime(endsAt + 150 - place().now());
    expect(await bus.peekBudget([window], place().now())).toMatchObject({
      accepted: true,
      windows: [{ remaining: 2 }],
    });
    expect((await bus.takeBudget([window], place().now())).accepted).toBe(true);
  });

  test('a refund with the end of the taken window does not change a window started since', async () => {
    const bus = await open();
    const window: BudgetWindow = { key: newKey(), limit: 5, span: { lengthMs: 8_000 } };
    const remaining = async () => (await bus.peekBudget([window], place().now())).windows[0]!.remaining;
    const first = (await bus.takeBudget([window], place().now())).windows[0]!.resetAt;
    const taken = (endsAt: number): BudgetWindow => ({ ...window, span: { endsAt } });
    await bus.refundBudget([taken(first)], place().now());
    expect(await remaining()).toBe(5);
    await place().advanceTime(first + 100 - place().now());
    const second = (await bus.takeBudget([window], place().now())).windows[0]!.resetAt;
    await bus.refundBudget([taken(first)], place().now());
    expect(await remaining()).toBe(4);
    await bus.refundBudget([taken(second)], place().now());
    expect(await remaining()).toBe(5);
  });

  test('a calendar window ends at its time, regardless of its first use', async () => {
    const bus = await open();
    const endsAt = place().now() + 2_500;
    const window: BudgetWindow = { key: newKey(), limit: 1, span: { endsAt } };
    await place().advanceTime(500);
    expect((await bus.takeBudget([window], place().now())).accepted).toBe(true);
    expectAbout(await endOf(bus, window), endsAt);
    expect((await bus.takeBudget([window], place().now())).accepted).toBe(false);
    await place().advanceTime(endsAt + toleranceMs - place().now());
    const next: BudgetWindow = { ...window, span: { endsAt: endsAt + hourMs } };
    expect((await bus.takeBudget([next], place().now())).accepted).toBe(true);
  });

  test('windows of both kinds report their own end, in request order', async () => {
    const bus = await open();
    const [key, now] = [newKey(), place().now()];
    const windows: BudgetWindow[] = [
      { key: `${key}:day`, limit: 100, span: { endsAt: now + 5 * hourMs } },
      { key: `${key}:minute`, limit: 10, span: { lengthMs: 60_000 } },
      { key: `${key}:hour`, limit: 20, span: { lengthMs: hourMs } },
    ];
    const state = await bus.takeBudget(windows, now);
    expect(state.windows.map(({ remaining }) => remaining)).toEqual([99, 9, 19]);
    const ends = [now + 5 * hourMs, now + 60_000, now + hourMs];
    state.windows.forEach(({ resetAt }, index) => expectAbout(resetAt, ends[index]!));
  });

  test('a refund to an ended window has no effect', async () => {
    const bus = await open();
    const window: BudgetWindow = { key: newKey(), limit: 2, span: { lengthMs: 300 } };
    await bus.takeBudget([window], place().now());
    await place().advanceTime(450);
    await bus.refundBudget([window], place().now());
    expect(await bus.peekBudget([window], place().now())).toMatchObject({ windows: [{ remaining: 2 }] });
  });

  test('keeps budgets when the bus is closed and reopened', async () => {
    const before = await open();
    const key = newKey();
    const windows: BudgetWindow[] = [
      { key: `${key}:hour`, limit: 5, span: { lengthMs: hourMs } },
      { key: `${key}:day`, limit: 7, span: { endsAt: place().now() + 5 * hourMs } },
    ];
    for (let n = 0; n < 3; n += 1) await before.takeBudget(windows, place().now());
    const told = await before.peekBudget(windows, place().now());
    await before.close();
    const after = await open();
    const state = await after.peekBudget(windows, place().now());
    expect(state.windows.map(({ remaining }) => remaining)).toEqual([2, 4]);
    state.windows.forEach(({ resetAt }, index) => expectAbout(resetAt, told.windows[index]!.resetAt));
  });
}

function lifetime(open: () => Promise<Bus>): void {
  test('an open bus is connected and responds to a ping', async () => {
    const bus = await open();
    expect(bus.isConnected).toBe(true);
    await bus.ping();
  });

  test('a closed bus rejects publishes, subscriptions and pings as unavailable, and is not connected', async () => {
    const bus = await open();
    const { seen, receive } = collect();
    const channel = newChannel();
    await bus.subscribe(channel, receive);
    await bus.close();
    await bus.close();
    expect(bus.isConnected).toBe(false);
    await expect(bus.publish(channel, ['late'])).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bus.subscribe(channel, receive)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bus.ping()).rejects.toMatchObject({ code: 'unavailable' });
    expect(seen).toEqual([]);
  });

  test('a subscription can be closed after its bus', async () => {
    const bus = await open();
    const subscribed = await bus.subscribe(newChannel(), () => undefined);
    await bus.close();
    await subscribed.close();
  });
}
