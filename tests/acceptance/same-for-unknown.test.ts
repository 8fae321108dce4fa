import { expect, test } from '@jest/globals';
import { users } from '@tocsin/shared/stores/users.ts';
import { newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { cpuMs } from '../../tools/bench/process-usage.ts';
import { mailsTo } from './mailbox.ts';
import { newRegistration } from './registration.ts';
import { Client } from './stack.ts';
import { useOwnStack } from './use-own-stack.ts';

// Who asks cannot tell by the clock whether an address has an account. Times on a machine that others use too say little, so
// work is compared: the processor's time where that is all there is to it, and else which of two was slower, many times.
const { stack, store } = await useOwnStack({ TRUST_PROXY: '1' });

const post = (path: string, json: object) => new Client(undefined, stack.urls).call('POST', path, { json });

test('a wrong password costs as much processor time for an unknown address as for an account', async () => {
  const registration = newRegistration();
  expect((await post('/auth/register', registration)).status).toBe(201);
  const spent = { known: 0, unknown: 0 };
  for (let pair = 0; pair < 20; pair += 1) {
    // Who comes first changes, and every guess is from an address of its own.
    for (const kind of pair % 2 === 0 ? ['known', 'unknown'] as const : ['unknown', 'known'] as const) {
      const email = kind === 'known' ? registration.email : newRegistration().email;
      const before = cpuMs(stack.apiPids());
      const { status, body } = await post('/auth/login', { email, password: 'a wrong password' });
      spent[kind] += cpuMs(stack.apiPids()) - before;
      expect([status, body]).toEqual([401, { detail: 'Could not validate credentials' }]);
    }
  }
  expect(spent.known).toBeGreaterThan(1_000);
  expect(spent.unknown / spent.known).toBeGreaterThan(0.9);
  expect(spent.unknown / spent.known).toBeLessThan(1.1);
}, 120_000);

test.each(['/auth/password-reset/request', '/auth/resend-verification'])('%s takes neither longer nor shorter for an account than for nobody', async (path) => {
  const pairs = 120;
  const accounts = Array.from({ length: pairs }, () => newUser({ isVerified: false, wasVerified: false }));
  for (const account of accounts) await store.documents.insert(users, account);
  let slowerForAccount = 0;
  for (const [pair, account] of accounts.entries()) {
    const took = { known: 0, unknown: 0 };
    for (const kind of pair % 2 === 0 ? ['known', 'unknown'] as const : ['unknown', 'known'] as const) {
      const email = kind === 'known' ? account.email : newRegistration().email;
      const startedAt = performance.now();
      expect((await post(path, { email })).status).toBe(200);
      took[kind] = performance.now() - startedAt;
    }
    if (took.known > took.unknown) slowerForAccount += 1;
  }
  // By chance alone it is within these bounds but once in a hundred thousand times; work of its own for one of them makes it nearly all or nearly none.
  expect(slowerForAccount / pairs).toBeGreaterThan(0.3);
  expect(slowerForAccount / pairs).toBeLessThan(0.7);
  await eventually(async () => expect(await mailsTo(accounts.at(-1)!.email, path.includes('reset') ? 'password-reset' : 'verify-email', stack)).toHaveLength(1));
}, 120_000);
