import { expect, test } from '@jest/globals';
import { users } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { type Answer } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

function expectJsonError(answer: Answer, status: number, detail: string): void {
  expect([answer.status, answer.body]).toEqual([status, { detail }]);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
}

test('returns 500 without details for a bug', async () => {
  const person = await stack.person();
  // A value that Tocsin never stores: a time beyond the range of dates.
  await store.documents().update(users, (await store.documents().get(users, person.id))!, { createdAt: 9e15 });
  const answer = await eventually(async () => {
    const asked = await person.get('/api/users/me');
    expect(asked.status).toBe(500);
    return asked;
  });
  expectJsonError(answer, 500, 'Internal server error');
});
