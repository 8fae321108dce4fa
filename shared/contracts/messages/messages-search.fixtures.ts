import fc from 'fast-check';
import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { allMessagesOf, deletedContentMs, type MessageFilter } from '../../domain/messages/message-filter.ts';
import type { Priority } from '../../domain/messages/message.ts';
import { deleted, edited, published, testMessage, testTime } from './messages.fixtures.ts';

/** A filter that matches every message at the test's time, apart from the given conditions. */
export const anyMessage = (topicIds: readonly string[], given: Partial<MessageFilter> = {}): MessageFilter =>
  allMessagesOf(topicIds, { now: testTime, ...given });

/** Letters with unusual case folding, pattern characters, NUL, and characters of several code units. */
const pieces = [
  'a',
  'A',
  'k',
  'K',
  '\u212a',
  's',
  'SS',
  'ß',
  'ẞ',
  'ſ',
  'i',
  'I',
  'İ',
  'ı',
  'ﬁ',
  'F',
  'é',
  'É',
  'e\u0301',
  'Σ',
  'σ',
  'ς',
  'ж',
  'Ж',
  '😀',
  '%',
  '_',
  '\\',
  '.',
  '*',
  '+',
  '?',
  '^',
  '$',
  '|',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '-',
  '/',
  '#',
  "'",
  '"',
  '`',
  ',',
  ' ',
  '\n',
  '\t',
  '\0',
  '\\E',
  '\\Q',
];
const someText = (lengths: { minLength: number; maxLength: number }) =>
  fc.array(fc.constantFrom(...pieces), lengths).map((parts) => parts.join(''));

const storedTags = ['a', 'A', 'ä', 'b"a', '"', '\\', '[', ']', '["', 'x,', ',a', 'x,"a', '%', 'a b', '\0'];
/** In a query, commas separate tags. */
const askedTags = storedTags.filter((tag) => !tag.includes(','));

const draft = fc.record({
  topic: fc.nat(2),
  message: someText({ minLength: 1, maxLength: 8 }),
  title: fc.option(someText({ minLength: 1, maxLength: 4 })),
  priority: fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<Priority>,
  tags: fc.uniqueArray(fc.constantFrom(...storedTags), { maxLength: 3 }),
  /** Milliseconds since the previous message: from 0 to an hour. */
  laterMs: fc.constantFrom(0, 1, 1_000, 3_600_000),
  change: fc.constantFrom('none', 'none', 'none', 'edited', 'deleted', 'edited and deleted'),
  deletedDaysAgo: fc.constantFrom(0, 29, 30, 31),
});

const hour = 3_600_000;
const time = fc.option(fc.integer({ min: -2 * hour, max: 8 * hour }));
const priority = fc.option(fc.integer({ min: 1, max: 5 }));
const asked = fc.record({
  topics: fc.subarray([0, 1, 2]),
  /** A part of a message's text, or random text. */
  text: fc.option(
    fc.oneof(
      someText({ minLength: 1, maxLength: 3 }),
      fc.record({ of: fc.nat(), at: fc.nat(), length: fc.integer({ min: 1, max: 4 }), isUpper: fc.boolean() }),
    ),
  ),
  priorityMin: priority,
  priorityMax: priority,
  tags: fc.oneof(fc.constant([]), fc.uniqueArray(fc.constantFrom(...askedTags), { maxLength: 3 })),
  from: time,
  to: time,
  includesDeleted: fc.boolean(),
  laterMs: fc.constantFrom(0, 0, 3 * hour),
});

/** Random messages of three topics with edits and deletions, and random searches. */
export const searches = fc.record({
  drafts: fc.array(draft, { maxLength: 20 }),
  asked: fc.array(asked, { minLength: 1, maxLength: 6 }),
  limit: fc.integer({ min: 1, max: 7 }),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

/** The records of the drafts with increasing offsets and times, as on one node. */
export function recordsOfDrafts(
  drafts: readonly Draft[],
  topicIds: readonly string[],
  firstOffset: number,
): PlacedRecord[] {
  let timestamp = testTime;
  const messages = drafts.map((one, index) => {
    timestamp += one.laterMs;
    return testMessage(topicIds[one.topic]!, {
      message: one.message,
      title: one.title,
      priority: one.priority,
      tags: one.tags,
      timestamp,
      // Some expire between the times of searches.
      expiresAt: index % 5 === 4 ? testTime + 2 * hour : testTime + 80 * 24 * hour,
    });
  });
  const changes = drafts.flatMap(({ change, deletedDaysAgo }, index) => {
    const message = messages[index]!;
    const at = firstOffset + drafts.length + 2 * index;
    const edit = edited(at, message, {
      message: `${message.message}Σ edited`,
      title: index % 2 === 0 ? null : message.message,
      tags: ['a'],
      editedAt: testTime,
    });
    const deletion = deleted(at + 1, message, testTime - deletedDaysAgo * (deletedContentMs / 30));
    return [...(change.startsWith('edited') ? [edit] : []), ...(change.endsWith('deleted') ? [deletion] : [])];
  });
  return [...messages.map((message, index) => published(firstOffset + index, message)), ...changes];
}

export function filterOf(
  question: Asked,
  records: readonly PlacedRecord[],
  topicIds: readonly string[],
): MessageFilter {
  const { text, priorityMin, priorityMax, from, to, tags, includesDeleted } = question;
  return anyMessage(
    question.topics.map((topic) => topicIds[topic]!),
    {
      text: typeof text === 'object' && text !== null ? substringOf(records, text) : text,
      priorityMin,
      priorityMax,
      tags,
      includesDeleted,
      from: from === null ? null : testTime + from,
      to: to === null ? null : testTime + to,
      now: testTime + question.laterMs,
    },
  );
}

/**
 * A part of a published text, possibly in another case. Never contains half of a surrogate pair, which cannot be sent.
 */
function substringOf(
  records: readonly PlacedRecord[],
  { of, at, length, isUpper }: { of: number; at: number; length: number; isUpper: boolean },
): string {
  const record = records[of % Math.max(records.length, 1)];
  const points = [...(record?.record.message.message || 'nothing')];
  const start = at % points.length;
  const piece = points.slice(start, start + length).join('');
  return isUpper ? piece.toUpperCase() : piece.toLowerCase();
}
