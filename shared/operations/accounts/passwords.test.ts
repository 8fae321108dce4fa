import { afterEach, describe, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import bcrypt from 'bcrypt';
import { openPasswords as open, passwordCost, type Passwords } from './passwords.ts';

const cost = 4;

const opened: Passwords[] = [];
afterEach(() => Promise.all(opened.splice(0).map((passwords) => passwords.close())));

function openPasswords(...options: Parameters<typeof open>): Passwords {
  const passwords = open(...options);
  opened.push(passwords);
  return passwords;
}

describe('passwords', () => {
  test('a hash matches only its password', async () => {
    const passwords = openPasswords({ cost });
    const hash = await passwords.hash('correct horse');
    expect(bcrypt.getRounds(hash)).toBe(cost);
    expect(await passwords.matches('correct horse', hash)).toBe(true);
    expect(await passwords.matches('correct horsE', hash)).toBe(false);
  });

  test('uses cost 12 by default', async () => {
    expect(passwordCost).toBe(12);
    expect(bcrypt.getRounds(await openPasswords().hash('correct horse'))).toBe(12);
  });

  test('uses all 72 bytes and rejects longer passwords', async () => {
    const passwords = openPasswords({ cost });
    const full = '🔔'.repeat(18);
    const hash = await passwords.hash(full);
    expect(await passwords.matches(full, hash)).toBe(true);
    expect(await passwords.matches(`${full}x`, hash)).toBe(false);
    await expect(passwords.hash(`${full}x`)).rejects.toThrow(RangeError);
  });

  test('a zero byte does not truncate a password', async () => {
    const passwords = openPasswords({ cost });
    const hash = await passwords.hash('secret\0one');
    expect(await passwords.matches('secret\0two', hash)).toBe(false);
    expect(await passwords.matches('secret\0one', hash)).toBe(true);
  });

  test('no password matches without a hash, not even an empty one', async () => {
    const passwords = openPasswords({ cost });
    for (const password of ['', 'correct horse', 'x'.repeat(100)])
      expect(await passwords.matches(password, null)).toBe(false);
  });

  test('a comparison without a hash takes as long as one with a wrong password', async () => {
    const passwords = openPasswords({ cost: 8 });
    const hash = await passwords.hash('correct horse');
    const elapsed = { known: 0, unknown: 0 };
    // Alternates between both, so that other load affects them equally. Without a valid dummy hash, bcrypt would return
    // immediately.
    for (let pair = 0; pair < 10; pair += 1) {
      for (const kind of ['known', 'unknown'] as const) {
        const before = process.cpuUsage();
        expect(await passwords.matches('a guess', kind === 'known' ? hash : null)).toBe(false);
        elapsed[kind] += process.cpuUsage(before).user;
      }
    }
    expect(elapsed.unknown / elapsed.known).toBeGreaterThan(0.5);
    expect(elapsed.unknown / elapsed.known).toBeLessThan(2);
  });

  test('runs up to the concurrency, queues fifty, and rejects the rest immediately', async () => {
    const passwords = openPasswords({ cost: 8, concurrency: 1 });
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.matches('guess', null)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(9);
    expect(refused[0]!.reason).toMatchObject({ code: 'limited', message: 'Rate limit exceeded', retryAfterSeconds: 1 });
    // Rejected jobs occupy no slot.
    await expect(Promise.all(Array.from({ length: 51 }, () => passwords.matches('guess', null)))).resolves.toHaveLength(
      51,
    );
  });

  test('hashing has a lower priority than the rest of the process', async () => {
    if (process.platform !== 'linux') return;
    const threadPriorities = () => readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
    const before = threadPriorities();
    await openPasswords({ cost }).hash('correct horse');
    expect(threadPriorities().filter((priority) => priority > 0).length).toBe(
      before.filter((priority) => priority > 0).length + 1,
    );
  });

  test('fails running jobs on close, and replaces a thread that ended', async () => {
    const passwords = openPasswords({ cost: 12, concurrency: 1 });
    const pendingHash = passwords.hash('correct horse');
    const failed = expect(pendingHash).rejects.toThrow('thread ended');
    await passwords.close();
    await failed;
    expect(await passwords.matches('guess', null)).toBe(false);
  });
});
