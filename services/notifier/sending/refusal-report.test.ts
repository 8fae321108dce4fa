import { expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { refusalReport } from './refusal-report.ts';

test('logs a rejection with its remedy immediately and again after a minute, per provider', () => {
  const lines: Record<string, unknown>[] = [];
  const log = openLogger('test', 'info', {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  let now = 0;
  const report = refusalReport({ clock: () => now, log });
  const refusal = { reason: 'ExpiredProviderToken', remedy: 'check APNS_KEY_FILE' };
  report('ios', refusal);
  expect(lines).toMatchObject([
    {
      level: 'error',
      platform: 'ios',
      reason: 'ExpiredProviderToken',
      msg: 'APNs rejects this installation, its pushes wait: check APNS_KEY_FILE',
    },
  ]);
  now = 59_999;
  report('ios', refusal);
  report('android', refusal);
  expect(lines.map(({ platform }) => platform)).toEqual(['ios', 'android']);
  now = 60_000;
  report('ios', refusal);
  expect(lines.map(({ platform }) => platform)).toEqual(['ios', 'android', 'ios']);
});

test('logs a rejection that a token of another app can cause once a day, as a warning', () => {
  const lines: string[] = [];
  const log = openLogger('test', 'info', { write: (line: string) => void lines.push(line) });
  let now = 0;
  const report = refusalReport({ clock: () => now, log });
  const foreign = { reason: 'SENDER_ID_MISMATCH', remedy: 'check FCM_SERVICE_ACCOUNT_FILE', isOfToken: true } as const;
  for (; now < 2 * 86_400_000; now += 60_000) report('android', foreign);
  expect(lines.map((line) => JSON.parse(line) as { msg: string }).map(({ msg }) => msg)).toEqual(
    Array(2).fill(
      'FCM rejects a push: a device may have registered a token of another app. If all pushes fail, check FCM_SERVICE_ACCOUNT_FILE',
    ),
  );
});
