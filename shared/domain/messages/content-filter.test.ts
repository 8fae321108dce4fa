import { expect, test } from '@jest/globals';
import { contentMatcher, FilterSubject, recordMatcher, type ContentFilter } from './content-filter.ts';

const all: ContentFilter = { text: null, priorityMin: null, priorityMax: null, tags: [] };
const content = (message: string) => ({ message, title: null, priority: 3, tags: [], isDeleted: false }) as const;
const holds = (subject: FilterSubject, text: string) => contentMatcher({ ...all, text })(subject);

test('finds the same texts in a message however many were looked for before', () => {
  const message = Array.from({ length: 500 }, (_, word) => `Wort ${word} Straße`).join(', ');
  const subject = new FilterSubject(content(message));
  const found = ['ort 499 STRASSE', 'straße', 'W', 'wo', message, 'ße, wort 77'];
  const absent = ['wort 500', 'strasse wort', 'z', 'x', `${message}.`, 'wort  1'];
  for (let round = 0; round < 4; round += 1) {
    for (const text of found) expect(holds(subject, text)).toBe(true);
    for (const text of absent) expect(holds(subject, text)).toBe(false);
  }
});

test('passes every record of a deleted message, which has lost its tags, by priority only', () => {
  const deleted = new FilterSubject({ ...content(''), isDeleted: true });
  const passes = (filter: Partial<ContentFilter>) =>
    (['message', 'message_edited', 'message_acknowledged', 'message_deleted'] as const).map((type) =>
      recordMatcher({ ...all, ...filter })(type, deleted),
    );
  expect(passes({ tags: ['db'], text: 'disk' })).toEqual([false, true, true, true]);
  expect(passes({ tags: ['db'], priorityMin: 4 })).toEqual([false, false, false, false]);
});
