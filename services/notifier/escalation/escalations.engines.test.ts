import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StepTarget } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { fanoutGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import {
  acknowledgeMessage,
  withdrawAcknowledgement,
} from '@tocsin/shared/operations/escalation/acknowledge-message.ts';
import { newEscalation } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { recordAcknowledgement } from '@tocsin/shared/operations/escalation/record-acknowledgement.ts';
import { setEscalation } from '@tocsin/shared/operations/escalation/set-escalation.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newDevice, newId, newMessage, newPolicy, newUser, testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { sweepEscalations } from './sweep-escalations.ts';
import { deliveriesOf, openPushInstallation, tokensOf, type PushInstallation } from '../push-installation.fixtures.ts';

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];

const stepTo = (to: StepTarget, afterMs = 5 * minuteMs) => ({ afterMs, to });
const toUsers = (...userIds: string[]): StepTarget => ({ kind: 'users', userIds, teamRole: null });

describe(`escalations, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let aheadMs: number;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    aheadMs = 0;
  });
  afterEach(() => at.close());

  const jump = (ms: number): void => at.setAhead((aheadMs += ms));
  const escalationOf = async ({ id }: Message): Promise<Escalation> =>
    (await at.engine.documents.get(escalations, id))!;
  const publishUrgent = (topic: Topic) => at.publish(topic, { priority: 5, requiresAck: true });
  const pushesOf = ({ id }: Message) => at.expo.pushes.filter(({ messageId }) => messageId === id);
  const loudPushesOf = (message: Message) => pushesOf(message).filter(({ message: { sound } }) => sound !== null);
  const untilPushed = (message: Message, count: number) =>
    eventually(() => expect(loudPushesOf(message)).toHaveLength(count), { timeoutMs: 60_000 });
  const untilDone = async (message: Message, repeats: number) =>
    eventually(async () => expect((await escalationOf(message)).state.repeats).toBe(repeats), { timeoutMs: 60_000 });
  const by = { by: { kind: 'account', name: 'ada', accountId: null }, note: 'on my way', deviceId: null } as const;

  const record = ({ id }: Message, append = at.append): Promise<void> => {
    const { documents, messages } = at.engine;
    return recordAcknowledgement({ documents, messages, clock: at.clock, append }, id);
  };
  async function acknowledge(message: Message, deviceId: string | null = null, append = at.append): Promise<void> {
    const { documents, messages } = at.engine;
    const deps = { documents, clock: at.clock, makeAckKey: newId };
    await acknowledgeMessage(deps, (await messages.find(message.id))!, { ...by, deviceId }, testAudit);
    await record(message, append);
  }

  test('repeats the push to every device that matches, and no more often than allowed', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 2 }) });
    const { device } = await at.addSubscriber(topic);
    await at.addSubscriber(topic, { subscription: { tagsFilter: ['another'] } });
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    for (const count of [2, 3]) {
      jump(2 * minuteMs);
      await untilPushed(message, count);
    }
    jump(hourMs);
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([device.pushToken, device.pushToken, device.pushToken]);
    expect(new Set(pushesOf(message).map((push) => push.message.collapseId))).toEqual(new Set([message.id]));
    expect(await escalationOf(message)).toMatchObject({
      isOpen: true,
      dueAt: null,
      pages: [{ number: 1 }, { number: 2 }],
    });
    for (const number of [1, 2])
      expect(await deliveriesOf(at, ledgerKey(message.id, { kind: 'repeat', round: 1, number }))).toMatchObject([
        { deviceId: device.id, status: 'sent', attempts: 1 },
      ]);
  });

  test('an acknowledgement ends the repeats, and a silent push says who took it', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    const [taker, other] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 2);
    jump(2 * minuteMs);
    await untilPushed(message, 4);
    await untilDone(message, 1);
    await acknowledge(message, taker.device.id);
    await eventually(() => expect(pushesOf(message)).toHaveLength(5), { timeoutMs: 60_000 });
    jump(hourMs);
    await at.idle();
    const [last, ...more] = pushesOf(message).slice(4);
    expect(more).toEqual([]);
    expect(last).toMatchObject({
      token: other.device.pushToken,
      message: { sound: null, collapseId: message.id, data: { event: 'message_acknowledged' } },
    });
    expect(last!.message.body).toContain('Acknowledged by ada: on my way');
    expect(await at.engine.messages.find(message.id)).toMatchObject({ acknowledgement: { by: { name: 'ada' } } });
  });

  test('an acknowledgement is recorded once, even if a sweep changes the escalation meanwhile', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    await at.start();
    const message = await publishUrgent(topic);
    await eventually(async () => expect(await at.engine.documents.get(escalations, message.id)).not.toBeNull());
    let records = 0;
    const append = async (): Promise<void> => {
      records += 1;
      await at.engine.documents.update(escalations, await escalationOf(message), { decidedAt: at.clock() });
    };
    await acknowledge(message, null, append);
    await record(message, append);
    expect(records).toBe(1);
    expect(await escalationOf(message)).toMatchObject({ unrecordedAt: null, dueAt: null });
  });

  test('a withdrawn acknowledgement starts the escalation again', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 1 }) });
    await at.addSubscriber(topic);
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    await acknowledge(message);
    const { documents, messages } = at.engine;
    const stored = (await messages.find(message.id))!;
    await withdrawAcknowledgement({ documents, clock: at.clock }, { message: stored, topic }, testAudit);
    await record(message);
    jump(2 * minuteMs);
    await untilPushed(message, 2);
    expect(await escalationOf(message)).toMatchObject({ state: { round: 2 } });
    expect(await messages.find(message.id)).toMatchObject({ acknowledgement: null });
  });

  /** Replaces the message as a publish with its sequence ID does. */
  async function replace(topic: Topic, { id }: Message, to: Pick<Message, 'priority' | 'requiresAck'>): Promise<void> {
    await at.append(topic, editRecord((await at.engine.messages.find(id))!, { ...to, message: 'worse' }, at.clock()));
  }
  const raised = { priority: 5, requiresAck: true } as const;
  const lowered = { priority: 3, requiresAck: false } as const;

  test('a replacement that requires an acknowledgement is pushed with sound and repeats', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 1 }) });
    const { device } = await at.addSubscriber(topic);
    const picky = await at.addSubscriber(topic, { subscription: { priorityThreshold: 5 } });
    await at.start();
    const message = await at.publish(topic, { priority: 3 });
    await untilPushed(message, 1);
    await replace(topic, message, raised);
    await untilPushed(message, 3);
    expect(new Set(tokensOf(at, message.id).slice(1))).toEqual(new Set([device, picky.device].map((d) => d.pushToken)));
    expect(loudPushesOf(message).at(-1)!.message).toMatchObject({
      body: 'worse',
      collapseId: message.id,
      data: { requires_ack: true },
    });
    jump(2 * minuteMs);
    await untilPushed(message, 5);
    await at.idle();
    expect(pushesOf(message)).toHaveLength(5);
    // Another replacement of the same priority replaces it silently on all devices, also those without the first push.
    await replace(topic, message, raised);
    await eventually(() => expect(pushesOf(message)).toHaveLength(7));
    await at.idle();
    expect(loudPushesOf(message)).toHaveLength(5);
    expect((await escalationOf(message)).pages).toMatchObject([{ number: 0 }, { number: 1 }]);
  });

  test('a replacement that requires no acknowledgement any more ends the escalation, the next one starts it', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    await at.addSubscriber(topic);
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    await replace(topic, message, lowered);
    await eventually(async () => expect(await escalationOf(message)).toMatchObject({ isOpen: false, dueAt: null }));
    jump(hourMs);
    await at.idle();
    expect(loudPushesOf(message)).toHaveLength(1);
    await replace(topic, message, raised);
    await untilPushed(message, 2);
    jump(2 * minuteMs);
    await untilPushed(message, 3);
    expect(await escalationOf(message)).toMatchObject({ state: { round: 2 }, isOpen: true });
  });

  test('an end and a new start that the notifier reads together are a new escalation with its push', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 0 }) });
    await at.addSubscriber(topic);
    const message = await publishUrgent(topic);
    for (const to of [lowered, raised]) await replace(topic, message, to);
    await at.start();
    await untilPushed(message, 2);
    expect(await escalationOf(message)).toMatchObject({ isOpen: true, pages: [{ number: 0, round: 2 }] });
  });

  test('a replacement of an acknowledged message stays silent and names who took it', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    await at.addSubscriber(topic);
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    await acknowledge(message);
    await eventually(() => expect(pushesOf(message)).toHaveLength(2));
    await replace(topic, message, raised);
    await eventually(() => expect(pushesOf(message)).toHaveLength(3));
    expect(pushesOf(message)[2]!.message).toMatchObject({
      sound: null,
      body: 'Acknowledged by ada: on my way\nworse',
      data: { event: 'message_edited' },
    });
    jump(hourMs);
    await at.idle();
    expect(pushesOf(message)).toHaveLength(3);
  });

  test('a deleted message and a removed policy have no further pages', async () => {
    const [topic, changed] = [
      await at.addTopic({ escalation: newPolicy() }),
      await at.addTopic({ escalation: newPolicy() }),
    ];
    for (const one of [topic, changed]) await at.addSubscriber(one);
    await at.start();
    const [deleted, muted] = [await publishUrgent(topic), await publishUrgent(changed)];
    for (const message of [deleted, muted]) await untilPushed(message, 1);
    await at.append(topic, deletionRecord((await at.engine.messages.find(deleted.id))!, at.clock()));
    const deps = { documents: at.engine.documents, clock: at.clock, makeId: newId };
    await setEscalation(deps, { topicId: changed.id, policy: null }, testAudit);
    await eventually(async () => expect(await escalationOf(muted)).toMatchObject({ dueAt: null, isOpen: true }));
    await eventually(async () => expect(await escalationOf(deleted)).toMatchObject({ isOpen: false }));
    jump(hourMs);
    await at.idle();
    for (const message of [deleted, muted]) expect(loudPushesOf(message)).toHaveLength(1);
    await setEscalation(deps, { topicId: changed.id, policy: newPolicy({ repeatMax: 1 }) }, testAudit);
    await untilPushed(muted, 2);
  });

  test('quiet hours and the limit per minute do not hold back a repeat of priority 5', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ minPriority: 4, repeatMax: 1 }) });
    const quietHours = { start: '00:00', end: '23:59', timezone: 'UTC', allowPriority: null };
    await at.addSubscriber(topic, { subscription: { quietHours, maxPerMinute: 1 } });
    await at.start();
    const urgent = await publishUrgent(topic);
    const high = await at.publish(topic, { priority: 4, requiresAck: true });
    const reason = 'quiet hours from 00:00 to 23:59, UTC';
    for (const { id } of [urgent, high])
      await eventually(async () => expect(await deliveriesOf(at, id)).toMatchObject([{ status: 'skipped', reason }]));
    jump(2 * minuteMs);
    await untilPushed(urgent, 1);
    const repeatOfHigh = ledgerKey(high.id, { kind: 'repeat', round: 1, number: 1 });
    await eventually(async () =>
      expect(await deliveriesOf(at, repeatOfHigh)).toMatchObject([{ status: 'skipped', reason }]),
    );
    expect(pushesOf(high)).toEqual([]);
  });

  test('a step pushes to users whatever their filters say, and not to users who lost access', async () => {
    const [reader, lost] = [
      await at.engine.documents.insert(users, newUser()),
      await at.engine.documents.insert(users, newUser({ isActive: false })),
    ];
    const topic = await at.addTopic({
      escalation: newPolicy({ repeatMax: 0, steps: [stepTo(toUsers(reader.id, lost.id))] }),
    });
    const [phone, lostPhone] = [
      await at.engine.documents.insert(devices, newDevice(reader.id)),
      await at.engine.documents.insert(devices, newDevice(lost.id)),
    ];
    await at.start();
    const message = await publishUrgent(topic);
    await eventually(async () => expect(await escalationOf(message)).not.toBeNull());
    jump(5 * minuteMs);
    await untilPushed(message, 1);
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([phone.pushToken]);
    const rows = await deliveriesOf(at, ledgerKey(message.id, { kind: 'step', round: 1, number: 1 }));
    expect(rows.map(({ deviceId, status, reason }) => [deviceId, status, reason]).sort()).toEqual(
      [
        [phone.id, 'sent', null],
        [lostPhone.id, 'skipped', 'no access'],
      ].sort(),
    );
  });

  test('a step without a reader is skipped, the next one follows immediately and publishes once to its topic', async () => {
    const lost = await at.engine.documents.insert(users, newUser({ isActive: false }));
    const managers = await at.addTopic();
    const { device } = await at.addSubscriber(managers);
    const topic = await at.addTopic({
      ownerId: managers.ownerId,
      escalation: newPolicy({
        repeatMax: 0,
        steps: [stepTo(toUsers(lost.id)), stepTo({ kind: 'topic', topicId: managers.id }, 12 * hourMs)],
      }),
    });
    await at.start();
    await at.start();
    const { eventLog, messages } = at.engine;
    const fanout = await eventLog.consume({ group: fanoutGroup, onBatch: ({ records }) => messages.apply(records) });
    const message = await publishUrgent(topic);
    await eventually(async () => expect(await escalationOf(message)).not.toBeNull());
    jump(5 * minuteMs);
    await eventually(() => expect(at.expo.pushes.map(({ token }) => token)).toContain(device.pushToken), {
      timeoutMs: 60_000,
    });
    await eventually(async () =>
      expect((await escalationOf(message)).pages).toMatchObject([
        { number: 1, skipped: 'no one of the step can read the topic' },
        { number: 2, skipped: null },
      ]),
    );
    await at.idle();
    const found = await at.engine.messages.newest(managers.id, { limit: 10, now: at.clock() });
    expect(found).toMatchObject([{ priority: 5, publishedBy: { kind: 'system', name: 'escalation' } }]);
    expect(found[0]!.message).toBe(`Not acknowledged in ${topic.name}:\n\n${message.message}`);
    expect(at.expo.duplicates().size).toBe(0);
    await fanout.close();
  });

  test('after an hour without a provider one current page goes out', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatEveryMs: 20 * minuteMs, repeatMax: 20 }) });
    await at.addSubscriber(topic);
    await at.start();
    at.expo.script('*', { kind: 'status', status: 503 });
    const message = await publishUrgent(topic);
    await eventually(async () => expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'retrying' }]));
    for (let repeats = 1; repeats <= 3; repeats++) {
      jump(20 * minuteMs);
      await untilDone(message, repeats);
      const key = ledgerKey(message.id, { kind: 'repeat', round: 1, number: repeats });
      // A first attempt that is still under way would not be replaced by the next repeat.
      await eventually(async () => expect(await deliveriesOf(at, key)).toMatchObject([{ status: 'retrying' }]), {
        timeoutMs: 60_000,
      });
    }
    expect(pushesOf(message)).toEqual([]);
    at.expo.script('*', { kind: 'ok' });
    // Longer than the pauses of a provider that is down. A queue in Redis waits for them by its own clock.
    jump(3 * minuteMs);
    await eventually(() => expect(pushesOf(message)).toHaveLength(1), { timeoutMs: 60_000 });
    await at.idle();
    expect(pushesOf(message)).toHaveLength(1);
    const statusOf = async (key: string) => (await deliveriesOf(at, key)).map(({ status, reason }) => status + reason);
    expect(await statusOf(message.id)).toEqual([expect.stringMatching(/^skippedreplaced by repeat \d$/)]);
    expect(await statusOf(ledgerKey(message.id, { kind: 'repeat', round: 1, number: 3 }))).toEqual(['sentnull']);
  });

  test('an acknowledgement that the log lacks is recorded by the notifier', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    await at.addSubscriber(topic);
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    const { documents, messages } = at.engine;
    // The node dies before it appends the record.
    await acknowledgeMessage(
      { documents, clock: at.clock, makeAckKey: newId },
      (await messages.find(message.id))!,
      by,
      testAudit,
    );
    jump(11 * secondMs);
    await eventually(() => expect(pushesOf(message)).toHaveLength(2), { timeoutMs: 60_000 });
    expect(pushesOf(message)[1]!.message).toMatchObject({ sound: null });
    expect(await escalationOf(message)).toMatchObject({ unrecordedAt: null, dueAt: null });
  });

  test('a clock that is set back by an hour delays no repeat by more than its interval', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 2 }) });
    await at.addSubscriber(topic);
    await at.start();
    const message = await publishUrgent(topic);
    await untilPushed(message, 1);
    jump(-hourMs);
    await eventually(async () => expect((await escalationOf(message)).dueAt!).toBeLessThan(at.clock() + 2 * minuteMs));
    jump(2 * minuteMs);
    await untilDone(message, 1);
    await untilPushed(message, 2);
  });

  test('ten thousand open escalations cost nothing but what is due', async () => {
    const topic = await at.addTopic({ escalation: newPolicy() });
    const { id: _, ...waiting } = newEscalation(
      newMessage(topic.id, { priority: 5, requiresAck: true }),
      topic.escalation,
      { now: at.clock(), ackKey: newId() },
    );
    for (let made = 0; made < 10_000; made += 1_000)
      await at.engine.documents.commit(
        Array.from({ length: 1_000 }, () => write.insert(escalations, { ...waiting, id: newId() })),
      );
    const reads: string[] = [];
    const documents = new Proxy(at.engine.documents, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          reads.push(String(name));
          return Reflect.apply(value, target, given);
        };
      },
    });
    const { jobQueue, messages, eventLog } = at.engine;
    await sweepEscalations({
      engine: { documents, jobQueue, messages, eventLog },
      clock: at.clock,
      log: undefined as never,
      makeId: newId,
      closing: new AbortController().signal,
      retentionDays: { FREE: 7, ESSENTIALS: 30, TEAM: 90 },
    });
    expect(reads).toEqual(['find', 'find', 'find']);
  });
});
