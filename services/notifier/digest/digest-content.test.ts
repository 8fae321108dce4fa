import { expect, test } from '@jest/globals';
import { anyCharacter } from '@tocsin/shared/testing/any-character.ts';
import fc from 'fast-check';
import { digestContent, type DigestPart } from './digest-content.ts';

const part = (topic: string, title: string | null, message = 'text'): DigestPart => ({
  message: { title, message },
  topic: { id: `id of ${topic}`, name: topic },
});
const now = Date.parse('2026-11-25T10:00:00Z');

test('one topic is in the title, several are counted and named in each line', () => {
  expect(digestContent([part('backups', 'Done')], { bytesMax: 3_000, now })).toEqual({
    title: '1 message in backups',
    body: 'Done',
    category: null,
    data: {
      event: 'digest',
      count: 1,
      topic_count: 1,
      topics: [{ topic: 'backups', topic_id: 'id of backups', count: 1 }],
      sent_at: '2026-11-25T10:00:00.000Z',
    },
  });
  const several = [part('a', 'One'), part('b', null, ' two\n\nlines '), part('a', 'Three')];
  expect(digestContent(several, { bytesMax: 3_000, now })).toMatchObject({
    title: '3 messages in 2 topics',
    body: 'a: One\nb: two lines\na: Three',
    data: {
      count: 3,
      topics: [
        { topic: 'a', count: 2 },
        { topic: 'b', count: 1 },
      ],
    },
  });
});

test('shows the five newest messages and ten topics, and cuts long titles', () => {
  const parts = Array.from({ length: 30 }, (_, index) => part(`topic-${index % 15}`, 'x'.repeat(300)));
  const { title, body, data } = digestContent(parts, { bytesMax: 3_000, now });
  expect(title).toBe('30 messages in 15 topics');
  expect(body.split('\n').map((line) => line.length)).toEqual([109, 109, 109, 109, 109]);
  expect(body).toContain('…');
  expect(data).toMatchObject({ count: 30, topic_count: 15 });
  expect('topics' in data && data.topics).toHaveLength(10);
});

test('any messages fit into the providers’ limit', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 400 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.stringMatching(/^[a-z0-9_-]{1,64}$/), fc.option(text), text), {
        minLength: 1,
        maxLength: 40,
      }),
      (all) => {
        const content = digestContent(
          all.map(([topic, title, message]) => part(topic, title, message)),
          { bytesMax: 3_000, now },
        );
        expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThanOrEqual(3_000);
      },
    ),
  );
});
