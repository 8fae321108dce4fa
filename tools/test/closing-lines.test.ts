import { expect, test } from '@jest/globals';
import { closingLines } from './closing-lines.ts';
import { unsteadyAllowed, unsteadyAllowedMax } from './unsteady-allowed.ts';

const unit = { name: 'unit', kind: 'jest' as const, seconds: 1.25, counts: { passed: 7, failed: 0, skipped: 1 } };
const missing = { kind: 'missing' as const, reasons: ['no containers', 'missing java'], seconds: 0.1 };
const withoutEngines = { results: [unit], notRun: ['contracts-cluster', 'acceptance-cluster'], engines: missing };

test('prints a line with seconds for each part and the sum as the last line', () => {
  const types = { name: 'types', kind: 'program' as const, seconds: 2, counts: { passed: 0, failed: 0, skipped: 0 } };
  const { lines, isSuccess } = closingLines({ results: [types, unit], notRun: [] }, false);
  expect(lines).toEqual([
    'types                   2.0 s  ok',
    'unit                    1.3 s  7 passed, 0 failed, 1 skipped',
    '',
    '7 passed, 0 failed, 1 skipped',
  ]);
  expect(isSuccess).toBe(true);
});

test('names the parts that did not run with the reasons', () => {
  const { lines, isSuccess } = closingLines(withoutEngines, false);
  expect(lines.join('\n')).toMatch(
    /contracts-cluster +NOT RUN\nacceptance-cluster +NOT RUN\n.*\n {2}no containers\n {2}missing java/,
  );
  expect(lines.at(-1)).toBe('7 passed, 0 failed, 1 skipped');
  expect(isSuccess).toBe(true);
});

test('counts a part that did not run as a failure on CI', () => {
  const { lines, isSuccess } = closingLines(withoutEngines, true);
  expect(lines.at(-1)).toBe('7 passed, 2 failed, 1 skipped');
  expect(isSuccess).toBe(false);
});

test('prints the reason if a part fails without a failed test', () => {
  const lint = {
    name: 'lint',
    kind: 'program' as const,
    seconds: 3,
    counts: { passed: 0, failed: 1, skipped: 0 },
    trouble: 'exit code 1',
  };
  const { lines, isSuccess } = closingLines({ results: [lint], notRun: [] }, false);
  expect(lines[0]).toBe('lint                    3.0 s  failed (exit code 1)');
  expect(isSuccess).toBe(false);
});

const unsteady = { ...unit, unsteady: [{ name: '/src/tests/a.test.ts › one', failure: ['too late'] }] };

test('names a test that passed only on its second run and counts it as failed', () => {
  const { lines, isSuccess } = closingLines({ results: [unsteady], notRun: [] }, true, []);
  expect(lines.slice(1)).toEqual([
    'UNSTEADY in unit, failed and then passed: /src/tests/a.test.ts › one',
    '  too late',
    '',
    '6 passed, 1 failed, 1 skipped',
  ]);
  expect(isSuccess).toBe(false);
});

test('names an unsteady test of the list with its reason and counts it as passed', () => {
  const allowed = [{ test: 'tests/a.test.ts › one', reason: 'broker bug 12' }];
  const { lines, isSuccess } = closingLines({ results: [unsteady], notRun: [] }, true, allowed);
  expect(lines.slice(1)).toEqual([
    'UNSTEADY in unit, allowed (broker bug 12): /src/tests/a.test.ts › one',
    '  too late',
    '',
    '7 passed, 0 failed, 1 skipped',
  ]);
  expect(isSuccess).toBe(true);
});

test('the list of allowed unsteady tests has at most five entries, each with a reason', () => {
  expect(unsteadyAllowed.length).toBeLessThanOrEqual(unsteadyAllowedMax);
  for (const { reason } of unsteadyAllowed) expect(reason).not.toBe('');
});
