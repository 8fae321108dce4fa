import { expect, test } from '@jest/globals';
import type { Finding } from '@tocsin/shared/platform/finding.ts';
import { runCommand } from '../support/run-command.ts';
import { testStack } from '../support/stack.ts';

/** Runs `tocsin doctor` with the configuration of the running stack. */
async function doctor(env: NodeJS.ProcessEnv = {}) {
  const { code, out } = await runCommand(['doctor', '--json'], '', { ...testStack().env, ...env });
  const findings = JSON.parse(out) as Finding[];
  return { code, findings, faults: findings.filter(({ state }) => state === 'fault').map(({ part }) => part) };
}

test('reports no fault of a running installation and checks all of its components', async () => {
  const { code, findings, faults } = await doctor();
  expect({ code, faults }).toEqual({ code: 0, faults: [] });
  const parts = testStack().engine === 'cluster' ? ['Kafka', 'MongoDB', 'Redis'] : ['DATA_DIR'];
  expect(findings.map(({ part }) => part)).toEqual(
    expect.arrayContaining(['configuration', 'addresses', 'mail', 'push', ...parts]),
  );
  expect(findings.find(({ text }) => text.includes('RATE_LIMITS is off'))).toBe(undefined);
  expect(findings.find(({ text }) => text.startsWith('ADMIN_TOKEN'))).toBe(undefined);
});

test('reports a guessable operator token as a warning, not a fault', async () => {
  const { code, findings } = await doctor({ ADMIN_TOKEN: 'admin' });
  expect(code).toBe(0);
  expect(findings).toContainEqual({
    part: 'configuration',
    state: 'warning',
    text: expect.stringMatching(/^ADMIN_TOKEN has fewer than 16 characters/),
  });
});

test('reports all unavailable components as faults with a remedy', async () => {
  const nowhere = '127.0.0.1:9';
  const away =
    testStack().engine === 'cluster'
      ? { KAFKA_BROKERS: nowhere, MONGO_URL: `mongodb://${nowhere}/tocsin`, REDIS_URL: `redis://${nowhere}` }
      : { DATA_DIR: '/dev/null/data' };
  const { code, findings, faults } = await doctor({
    ...away,
    SMTP_URL: `smtp://${nowhere}`,
    BASE_URL: 'https://no-such-host.invalid',
  });
  expect(code).toBe(1);
  expect(faults).toEqual([
    'addresses',
    ...(testStack().engine === 'cluster' ? ['Kafka', 'MongoDB', 'Redis'] : ['DATA_DIR']),
    'mail',
  ]);
  for (const { state, text } of findings) if (state === 'fault') expect(text).toMatch(/: (change|check|set|give) /);
});
