import { expect, test } from '@jest/globals';
import { reservedTopicNames } from '../../testing/reserved-topic-names.ts';
import { topicNameFault } from './topic.ts';

test.each(reservedTopicNames)('rejects the reserved name %s in any case', (name) => {
  for (const written of [name, name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)]) {
    expect(topicNameFault(written)).toBe('is reserved, choose another');
  }
  for (const other of [`${name}s1`, `my-${name}`, `_${name}`]) expect(topicNameFault(other)).toBeNull();
});

test.each(['a', 'A-Z_09', '-', '_', 'x'.repeat(64)])('accepts %s', (name) => {
  expect(topicNameFault(name)).toBeNull();
});

test.each(['', 'x'.repeat(65), 'a b', 'a/b', 'a.b', 'ä', 'a\n', '🔥'])('rejects "%s"', (name) => {
  expect(topicNameFault(name)).toBe('must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -');
});
