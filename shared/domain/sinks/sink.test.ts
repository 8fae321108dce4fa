import { expect, test } from '@jest/globals';
import { headersFault, judgeAttempt, type SinkAttempt } from './sink.ts';

const hour = 3_600_000;
const answer = (status: number, retryAfterMs: number | null = null): SinkAttempt => ({
  kind: 'answer',
  status,
  retryAfterMs,
});
const noAnswer: SinkAttempt = { kind: 'failure', reason: 'timeout' };
const judge = (attempt: SinkAttempt, { attempts = 1, failedForMs = 0, random = 0.5 } = {}) =>
  judgeAttempt(attempt, { attempts, failingSince: 1_000, now: 1_000 + failedForMs, random });

test.each([
  [answer(200), { kind: 'delivered' }],
  [answer(299), { kind: 'delivered' }],
  [answer(410), { kind: 'disabled' }],
  [answer(500), { kind: 'retry', afterMs: 2_000 }],
  [answer(429, 60_000), { kind: 'retry', afterMs: 60_000 }],
  [answer(503, 1), { kind: 'retry', afterMs: 2_000 }],
  [answer(404), { kind: 'retry', afterMs: 2_000 }],
  [answer(302), { kind: 'retry', afterMs: 2_000 }],
  [noAnswer, { kind: 'retry', afterMs: 2_000 }],
])('the first attempt with %j', (attempt, verdict) => {
  expect(judge(attempt)).toEqual(verdict);
});

test('pauses double from 2 s to 15 minutes and vary by a quarter', () => {
  const pauses = [1, 2, 3, 9, 10, 1_000].map((attempts) => judge(noAnswer, { attempts }));
  expect(pauses.map((verdict) => 'afterMs' in verdict && verdict.afterMs)).toEqual([
    2_000, 4_000, 8_000, 512_000, 900_000, 900_000,
  ]);
  expect(judge(noAnswer, { attempts: 3, random: 0 })).toEqual({ kind: 'retry', afterMs: 6_000 });
  expect(judge(noAnswer, { attempts: 3, random: 0.999_999 })).toEqual({ kind: 'retry', afterMs: 10_000 });
});

test('a refused record is skipped after five attempts, however long they took', () => {
  expect(judge(answer(400), { attempts: 4, failedForMs: 48 * hour })).toMatchObject({ kind: 'retry' });
  expect(judge(answer(400), { attempts: 5 })).toEqual({ kind: 'skipped' });
});

test('a day of failures pauses the sink, however many attempts it had', () => {
  expect(judge(noAnswer, { attempts: 1_000, failedForMs: 24 * hour - 1 })).toMatchObject({ kind: 'retry' });
  for (const attempt of [noAnswer, answer(500), answer(429, hour)])
    expect(judge(attempt, { failedForMs: 24 * hour })).toEqual({ kind: 'paused' });
});

test.each([
  [{ Authorization: 'Bearer x', 'X-Env': 'a b' }, null],
  [{ 'Webhook-Id': 'x' }, 'must not contain webhook-id'],
  [{ HOST: 'x' }, 'must not contain host'],
  [{ 'Content-Length': '1' }, 'must not contain content-length'],
  [{ 'Transfer-Encoding': 'chunked' }, 'must not contain transfer-encoding'],
  [{ 'Proxy-Authorization': 'x' }, 'must not contain proxy-authorization'],
  [{ 'a b': 'x' }, 'must have names of HTTP headers'],
  [{ a: 'x', A: 'y' }, 'must not repeat a name'],
  [{ a: 'x\r\nb: y' }, 'must have values of 1 to 1000 visible ASCII characters'],
  [{ a: 'é' }, 'must have values of 1 to 1000 visible ASCII characters'],
  [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`h${n}`, 'x'])), 'must be at most 20'],
])('headers %j', (headers, fault) => {
  expect(headersFault(headers)).toBe(fault);
});
