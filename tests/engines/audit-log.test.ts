import { beforeAll, describe, expect, test } from '@jest/globals';
import { findUserByEmail } from '@tocsin/shared/collections/users.ts';
import { newRegistration, register } from '../support/registration.ts';
import { made } from '../support/stack.ts';
import { useAuditLog } from '../support/use-audit-log.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const { logOf } = useAuditLog(stack);

const bySystem = {
  actor: { type: 'system', id: null, name: null, through: 'server', credential_id: null },
  origin: { address: null, user_agent: null },
};

describe('the audit log', () => {
  let person: Person;
  let ids: string[];
  beforeAll(async () => {
    person = await stack.person();
    ids = [];
    for (const name of ['one', 'two', 'three']) ids.push((await made(person.post('/api/keys', { name }))).id);
  });

  test('records automatic removals, such as the replacement of an unverified account', async () => {
    const registration = newRegistration();
    await register(registration);
    const { id } = (await findUserByEmail(store.documents(), registration.email))!;
    await register(newRegistration({ email: registration.email }));
    expect(await logOf({ subject: id })).toMatchObject([
      { action: 'account.deleted', ...bySystem, details: { reason: 'never_verified' } },
      { action: 'account.created', origin: { address: null } },
    ]);
  });
});
