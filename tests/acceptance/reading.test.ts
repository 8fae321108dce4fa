import { expect, test } from '@jest/globals';
import { Client } from './stack.ts';

test('an unknown topic has no history', async () => {
  const answer = await new Client().call('GET', '/no-such-topic/json');
  expect([answer.status, answer.body]).toEqual([404, { detail: 'Topic not found' }]);
});
