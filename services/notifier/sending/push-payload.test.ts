import { describe, expect, test } from '@jest/globals';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import fc from 'fast-check';
import { cutText, pushContent } from './push-payload.ts';
import { noExtras } from '@tocsin/shared/domain/messages/message-extras.ts';

const topic = { id: 'topic-1', name: 'alarms' };
const message: Message = {
  id: '0190a000-0000-7000-8000-000000000001',
  topicId: topic.id,
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

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the content of a push', () => {
  test('contains the text, the topic’s name as title, and the IDs of the message', () => {
    expect(pushContent(message, topic, { bytesMax: 4_096 })).toEqual({
      title: 'alarms',
      body: 'the pump stopped',
      data: { message_id: message.id, topic: 'alarms', topic_id: 'topic-1', priority: 4, tags: ['pump', 'cellar'] },
    });
  });

  test('uses the message’s title if it has one', () => {
    expect(pushContent({ ...message, title: 'Pump' }, topic, { bytesMax: 4_096 }).title).toBe('Pump');
  });

  test('fits the provider’s byte limit for any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4_000, size: 'max' });
    const tags = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64, size: 'max' }), {
      maxLength: 20,
      size: 'max',
    });
    fc.assert(
      fc.property(text, tags, fc.string({ maxLength: 250, size: 'max' }), (body, manyTags, title) => {
        const content = pushContent({ ...message, message: body, title, tags: manyTags }, topic, { bytesMax: 3_600 });
        expect(jsonBytes(content)).toBeLessThanOrEqual(3_600);
        const isWhole = content.body === body;
        expect(isWhole || (body.startsWith(content.body.slice(0, -1)) && content.body.endsWith('…'))).toBe(true);
      }),
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
