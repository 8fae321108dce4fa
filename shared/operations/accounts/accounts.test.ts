import { expect, test } from '@jest/globals';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents, New } from '../../ports/documents.ts';
import { newUser, testAudit } from '../../testing/builders.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { createAccount } from './accounts.ts';
import { findUserByEmail, users } from '../../collections/users.ts';

const engine = await useTestEngine();

/** Registers with the input of an unverified account: a separate account. */
const again = (user: New<User>): New<User> => ({
  ...newUser(),
  email: user.email,
  username: user.username,
  usernameKey: user.usernameKey,
});

/** Wraps the documents, so that `act` runs after the first lookup of an address. */
function withInterruption(documents: Documents, act: () => Promise<unknown>): Documents {
  let isDue = true;
  const find: Documents['find'] = async (collection, query) => {
    const found = await documents.find(collection, query);
    if (isDue && query.index === 'email') {
      isDue = false;
      await act();
    }
    return found;
  };
  return { ...documents, find };
}

const make = (documents: Documents, user: New<User>) => createAccount(documents, { user, otherWrites: [] }, testAudit);

test('replaces an unverified account with the same address and username that is created concurrently', async () => {
  const { documents } = engine;
  const first = newUser({ isVerified: false, wasVerified: false });
  const second = again(first);
  await make(
    withInterruption(documents, () => make(documents, first)),
    second,
  );
  expect(await documents.get(users, first.id)).toBeNull();
  expect((await findUserByEmail(documents, first.email))?.id).toBe(second.id);
});

test('keeps the address of an account that was verified concurrently and reports the conflict', async () => {
  const { documents } = engine;
  const first = newUser();
  const late = make(
    withInterruption(documents, () => make(documents, first)),
    again(first),
  );
  await expect(late).rejects.toMatchObject({ code: 'conflict', message: 'Email already registered' });
  expect((await findUserByEmail(documents, first.email))?.id).toBe(first.id);
});

test('accepts many concurrent registrations with equal input; each replaces the previous one', async () => {
  const { documents } = engine;
  const first = newUser({ isVerified: false, wasVerified: false });
  const all = [first, ...Array.from({ length: 11 }, () => again(first))];
  await Promise.all(all.map((user) => make(documents, { ...user, isVerified: false, wasVerified: false })));
  expect(all.map(({ id }) => id)).toContain((await findUserByEmail(documents, first.email))?.id);
  expect(
    await documents.getMany(
      users,
      all.map(({ id }) => id),
    ),
  ).toHaveLength(1);
});
