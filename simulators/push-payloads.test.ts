import { describe, expect, test } from '@jest/globals';
import { apnsRequestFault } from './apns-request.ts';
import { expoMessageFault } from './expo-message.ts';
import { fcmMessageFault } from './fcm-message.ts';

describe('the APNs simulator', () => {
  const faultOf = (payload: object) =>
    apnsRequestFault(
      {
        headers: { ':method': 'POST', ':path': `/3/device/${'ab'.repeat(32)}`, 'apns-topic': 'org.example.app' },
        body: Buffer.from(JSON.stringify(payload)),
      },
      'org.example.app',
    );

  test('accepts the fields of Apple’s tables, up to 4,096 bytes', () => {
    const aps = {
      alert: { title: 'Pump', body: 'stopped' },
      sound: { critical: 1, name: 'default', volume: 1 },
      badge: 3,
      category: 'tocsin.ack',
      'interruption-level': 'critical',
      'thread-id': 't-1',
    };
    expect(faultOf({ aps, message_id: 'm-1', actions: [] })).toBeNull();
    const frame = Buffer.byteLength(JSON.stringify({ aps, text: '' }));
    expect(faultOf({ aps, text: 'x'.repeat(4_096 - frame) })).toBeNull();
    expect(faultOf({ aps, text: 'x'.repeat(4_097 - frame) })).toEqual({ status: 413, reason: 'PayloadTooLarge' });
  });

  test.each<[string, object]>([
    ['interruption-level', { 'interruption-level': 'urgent' }],
    ['badge', { badge: '3' }],
    ['badge', { badge: -1 }],
    ['sound', { sound: null }],
    ['sound', { sound: { critical: true, name: 'default', volume: 1 }, 'interruption-level': 'critical' }],
    ['sound', { sound: { critical: 1, name: 'default', volume: 2 }, 'interruption-level': 'critical' }],
    ['sound', { sound: { critical: 1, name: 'default', volume: 1 }, 'interruption-level': 'active' }],
    ['alert', { alert: { title: 'Pump', text: 'stopped' } }],
    ['category', { category: null }],
    ['channel', { channel: 'tocsin-low' }],
  ])('rejects an invalid %s in %j', (field, aps) => {
    expect(faultOf({ aps })).toEqual({ status: 400, reason: `InvalidPayload: aps.${field}` });
  });
});

describe('the FCM simulator', () => {
  const faultOf = (message: object) => fcmMessageFault({ message: { token: 'abc:def', ...message } });
  const android = {
    priority: 'high',
    ttl: '60.5s',
    notification: { tag: 'm-1', sound: 'default', channel_id: 'tocsin-high', notification_count: 3 },
  };

  test('accepts the fields of the HTTP v1 API, up to 4,096 bytes', () => {
    expect(faultOf({ notification: { title: 'Pump', body: 'stopped' }, data: { topic: 'pumps' }, android })).toBeNull();
    expect(faultOf({ data: { text: 'x'.repeat(4_092) } })).toBeNull();
    expect(faultOf({ data: { text: 'x'.repeat(4_093) } })).toMatchObject({ message: 'Message is too big' });
  });

  test.each<[string, object]>([
    ['a number in the data', { data: { priority: 3 } }],
    ['a reserved key', { data: { from: 'x' } }],
    ['an unknown field of the notification', { notification: { title: 'Pump', sound: 'default' } }],
    ['an unknown priority', { android: { ...android, priority: 'urgent' } }],
    ['a lifetime beyond four weeks', { android: { ttl: '2419201s' } }],
    ['a lifetime that is a number', { android: { ttl: 60 } }],
    ['a channel in camel case', { android: { notification: { channelId: 'tocsin-high' } } }],
    ['a channel that is not a text', { android: { notification: { channel_id: null } } }],
    ['a negative count', { android: { notification: { notification_count: -1 } } }],
    ['an interruption level', { android: { notification: { interruption_level: 'active' } } }],
  ])('rejects %s', (_, message) => {
    expect(faultOf(message)).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' });
  });
});

describe('the Expo simulator', () => {
  const message = {
    to: 'ExponentPushToken[1]',
    title: 'Pump',
    body: 'stopped',
    data: { topic: 'pumps' },
    sound: { critical: true, name: 'default', volume: 1 },
    priority: 'high',
    interruptionLevel: 'critical',
    badge: 3,
    categoryId: 'tocsin.ack',
    ttl: 60,
  };

  test('accepts the documented fields', () => {
    expect(expoMessageFault(message)).toBeNull();
    expect(expoMessageFault({ ...message, sound: null, interruptionLevel: 'passive' })).toBeNull();
  });

  test.each<[string, object]>([
    ['interruptionLevel', { interruptionLevel: 'urgent' }],
    ['interruption-level', { 'interruption-level': 'active' }],
    ['badge', { badge: null }],
    ['sound', { sound: { critical: 1, name: 'default', volume: 1 } }],
    ['sound', { sound: { critical: true, name: 'default', volume: 1, loop: true } }],
    ['priority', { priority: 'urgent' }],
    ['categoryId', { categoryId: null }],
    ['data', { data: [] }],
    ['ttl', { ttl: 1.5 }],
  ])('rejects an invalid %s in %j', (field, given) => {
    expect(expoMessageFault({ ...message, ...given })).toContain(`"${field}" is `);
  });
});
