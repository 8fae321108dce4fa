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
  test('a hash matches its password and no other', async () => {
    const passwords = openPasswords({ cost });
    const hash = await passwords.hash('correct horse');
    expect(bcrypt.getRounds(hash)).toBe(cost);
    expect(await passwords.matches('correct horse', hash)).toBe(true);
    expect(await passwords.matches('correct horsE', hash)).toBe(false);
  });

  test('the cost is 12 unless told otherwise', async () => {
    expect(passwordCost).toBe(12);
    expect(bcrypt.getRounds(await openPasswords().hash('correct horse'))).toBe(12);
  });

  test('72 bytes count whole, and what goes beyond is never cut', async () => {
    const passwords = openPasswords({ cost });
    const full = '🔔'.repeat(18);
    const hash = await passwords.hash(full);
    expect(await passwords.matches(full, hash)).toBe(true);
    expect(await passwords.matches(`${full}x`, hash)).toBe(false);
    await expect(passwords.hash(`${full}x`)).rejects.toThrow(RangeError);
  });

  test('a zero byte does not end a password', async () => {
    const passwords = openPasswords({ cost });
    const hash = await passwords.hash('secret\0one');
    expect(await passwords.matches('secret\0two', hash)).toBe(false);
    expect(await passwords.matches('secret\0one', hash)).toBe(true);
  });

  test('nobody has a password, not even an empty one', async () => {
    const passwords = openPasswords({ cost });
    for (const password of ['', 'correct horse', 'x'.repeat(100)])
      expect(await passwords.matches(password, null)).toBe(false);
  });

  test('to find that nobody has a password costs as much as to find that it is a wrong one', async () => {
    const passwords = openPasswords({ cost: 8 });
    const hash = await passwords.hash('correct horse');
    const spent = { known: 0, unknown: 0 };
    // By turns, so that what else the process does is in both. Without a hash that bcrypt takes, it would be next to nothing.
    for (let pair = 0; pair < 10; pair += 1) {
      for (const kind of ['known', 'unknown'] as const) {
        const before = process.cpuUsage();
        expect(await passwords.matches('a guess', kind === 'known' ? hash : null)).toBe(false);
        spent[kind] += process.cpuUsage(before).user;
      }
    }
    expect(spent.unknown / spent.known).toBeGreaterThan(0.5);
    expect(spent.unknown / spent.known).toBeLessThan(2);
  });

  test('as many run as may, fifty wait, and the rest is refused at once', async () => {
    const passwords = openPasswords({ cost: 8, concurrency: 1 });
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.matches('guess', null)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(9);
    expect(refused[0]!.reason).toMatchObject({ code: 'limited', message: 'Rate limit exceeded', retryAfterSeconds: 1 });
    // Those that were refused left no place taken.
    await expect(Promise.all(Array.from({ length: 51 }, () => passwords.matches('guess', null)))).resolves.toHaveLength(
      51,
    );
  });

  test('hashing gives way to everything else of the process', async () => {
    if (process.platform !== 'linux') return;
    const niceOfThreads = () => readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
    const before = niceOfThreads();
    await openPasswords({ cost }).hash('correct horse');
    expect(niceOfThreads().filter((nice) => nice > 0).length).toBe(before.filter((nice) => nice > 0).length + 1);
  });

  test('what is under way when it is closed fails, and a thread that ended is replaced', async () => {
    const passwords = openPasswords({ cost: 12, concurrency: 1 });
    const underWay = passwords.hash('correct horse');
    const failed = expect(underWay).rejects.toThrow('has ended');
    await passwords.close();
    await failed;
    expect(await passwords.matches('guess', null)).toBe(false);
  });
});
