import { describe, expect, test } from '@jest/globals';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { noExtras, type MessageAction } from '@tocsin/shared/domain/messages/message-extras.ts';
import { anyCharacter } from '@tocsin/shared/testing/any-character.ts';
import fc from 'fast-check';
import { cutText, pushContent, replacementContent } from './push-payload.ts';

const topic = { id: 'topic-1', name: 'alarms' };
const message: StoredMessage = {
  id: '0190a000-0000-7000-8000-000000000001',
  topicId: topic.id,
  offset: 12,
  message: 'the pump stopped',
  title: null,
  priority: 4,
  tags: ['pump', 'cellar'],
  timestamp: 0,
  expiresAt: 1,
  markdown: false,
  isDeleted: false,
  isEdited: false,
  deletedAt: null,
  editedAt: null,
  ...noExtras,
  publishedBy: null,
};
const view: MessageAction = { action: 'view', label: 'Open', url: 'https://example.com/pump', clear: false };
const http: MessageAction = {
  action: 'http',
  label: 'Restart',
  url: 'https://example.com/pump',
  method: 'POST',
  headers: { Authorization: 'Bearer x' },
  body: 'restart',
  clear: true,
};
const ack: MessageAction = { action: 'ack', label: 'Got it' };
const options = { bytesMax: 4_096, now: Date.UTC(2026, 10, 25, 12) };

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the content of a push', () => {
  test('contains the text, the topic’s name as title, and the data of the message', () => {
    expect(pushContent(message, topic, options)).toEqual({
      title: 'alarms',
      body: 'the pump stopped',
      category: null,
      data: {
        topic: 'alarms',
        message_id: message.id,
        offset: 12,
        priority: 4,
        click: null,
        actions: [],
        requires_ack: false,
        sent_at: '2026-11-25T12:00:00.000Z',
        topic_id: 'topic-1',
        tags: ['pump', 'cellar'],
      },
    });
  });

  test('uses the message’s title if it has one', () => {
    expect(pushContent({ ...message, title: 'Pump' }, topic, options).title).toBe('Pump');
  });

  test('contains the link and the actions, as the message object does', () => {
    const { data } = pushContent({ ...message, click: 'app://pump/1', actions: [view, http, ack] }, topic, options);
    expect(data).toMatchObject({ click: 'app://pump/1', actions: [view, http, ack] });
  });

  test.each<[string, Partial<StoredMessage>, string | null]>([
    ['no actions', {}, null],
    ['a page and a request', { actions: [view, http] }, 'tocsin.actions'],
    ['an acknowledgement', { actions: [ack] }, 'tocsin.ack'],
    ['a page and an acknowledgement', { actions: [view, ack] }, 'tocsin.ack'],
    ['a required acknowledgement', { requiresAck: true, actions: [view] }, 'tocsin.ack'],
    [
      'an acknowledgement that was given',
      {
        requiresAck: true,
        actions: [ack],
        acknowledgement: { at: 1, by: { kind: 'account', name: 'ann', accountId: null }, note: null },
      },
      null,
    ],
  ])('has a category for the buttons of a message with %s', (_, given, category) => {
    expect(pushContent({ ...message, ...given }, topic, options).category).toBe(category);
  });

  test('leaves out the actions, then the link, if they do not fit with 512 bytes of text', () => {
    const text = 'x'.repeat(4_000);
    const click = `https://example.com/${'y'.repeat(2_000)}`;
    const long = { ...message, message: text, click, actions: [{ ...http, body: 'z'.repeat(4_096) }] };
    const { body, data } = pushContent(long, topic, { ...options, bytesMax: 3_584 });
    expect(data).toMatchObject({ click, requires_ack: false, sent_at: '2026-11-25T12:00:00.000Z' });
    expect(data).not.toHaveProperty('actions');
    expect(body.length).toBeGreaterThanOrEqual(511);
    const crowded = pushContent({ ...long, title: '🔔'.repeat(250) }, topic, { ...options, bytesMax: 3_584 });
    expect(crowded.data).not.toHaveProperty('click');
    expect(crowded.data).toMatchObject({ message_id: message.id, offset: 12, requires_ack: false });
  });

  test('of a deleted message has neither its text nor its buttons', () => {
    const deleted = { ...message, isDeleted: true, click: 'app://pump/1', actions: [view], requiresAck: true };
    expect(replacementContent(deleted, topic, options)).toMatchObject({
      title: 'alarms',
      body: 'This message was deleted',
      category: null,
      data: { click: null, actions: [], requires_ack: false, tags: [], event: 'message_deleted' },
    });
  });

  test('fits the provider’s byte limit for any text, link and actions', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 4_000, size: 'max' });
    const tags = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64, size: 'max' }), {
      maxLength: 20,
      size: 'max',
    });
    const extras = fc.record({
      click: fc.option(fc.string({ maxLength: 2_048, size: 'max' })),
      actions: fc.array(
        fc.record({ label: fc.string({ maxLength: 100 }), body: fc.string({ maxLength: 4_096, size: 'max' }) }),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(
        text,
        tags,
        fc.string({ maxLength: 250, size: 'max' }),
        extras,
        (body, manyTags, title, { click, actions }) => {
          const given = {
            message: body,
            title,
            tags: manyTags,
            click,
            actions: actions.map((one) => ({ ...http, ...one })),
          };
          const content = pushContent({ ...message, ...given }, topic, { ...options, bytesMax: 3_600 });
          expect(jsonBytes(content)).toBeLessThanOrEqual(3_600);
          const isWhole = content.body === body;
          expect(isWhole || (body.startsWith(content.body.slice(0, -1)) && content.body.endsWith('…'))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a text that is too long', () => {
  test('is cut between code points and ends in an ellipsis', () => {
    expect(cutText('🔥🔥🔥🔥', 16)).toBe('🔥🔥🔥🔥');
    expect(cutText('🔥🔥🔥🔥', 15)).toBe('🔥🔥🔥…');
    expect(cutText('🔥🔥🔥🔥', 14)).toBe('🔥🔥…');
  });

  test('is measured as JSON', () => {
    expect(cutText('""""', 8)).toBe('""""');
    expect(cutText('""""', 7)).toBe('""…');
    expect(cutText('\u0001\u0001', 11)).toBe('\u0001…');
  });

  test('becomes empty if nothing fits', () => {
    expect(cutText('text', 2)).toBe('');
    expect(cutText('text', -5)).toBe('');
  });
});
