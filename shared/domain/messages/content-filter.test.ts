import { expect, test } from '@jest/globals';
import { contentMatcher, FilterSubject, type ContentFilter } from './content-filter.ts';

const all: ContentFilter = { text: null, priorityMin: null, priorityMax: null, tags: [] };
const content = (message: string) => ({ message, title: null, priority: 3, tags: [] }) as const;
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
