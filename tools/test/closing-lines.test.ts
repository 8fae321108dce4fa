import { expect, test } from '@jest/globals';
import { closingLines } from './closing-lines.ts';

const unit = { name: 'unit', kind: 'jest' as const, seconds: 1.25, counts: { passed: 7, failed: 0, skipped: 1 } };
const missing = { kind: 'missing' as const, reasons: ['no containers', 'missing java'], seconds: 0.1 };
const withoutEngines = { results: [unit], notRun: ['contracts-cluster', 'acceptance-cluster'], engines: missing };

test('every part has a line with its seconds, and the sum is the last line', () => {
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

test('what could not run is named with the reasons', () => {
  const { lines, isSuccess } = closingLines(withoutEngines, false);
  expect(lines.join('\n')).toMatch(
    /contracts-cluster +NOT RUN\nacceptance-cluster +NOT RUN\n.*\n {2}no containers\n {2}missing java/,
  );
  expect(lines.at(-1)).toBe('7 passed, 0 failed, 1 skipped');
  expect(isSuccess).toBe(true);
});

test('on CI what could not run is a failure', () => {
  const { lines, isSuccess } = closingLines(withoutEngines, true);
  expect(lines.at(-1)).toBe('7 passed, 2 failed, 1 skipped');
  expect(isSuccess).toBe(false);
});

test('a part that fails without a test says why', () => {
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

test('a test that passed only the second time is named above the sum', () => {
  const unsteady = { ...unit, unsteady: ['/a.test.ts › one'] };
  const { lines, isSuccess } = closingLines({ results: [unsteady], notRun: [] }, true);
  expect(lines.slice(1)).toEqual([
    'UNSTEADY in unit, passed only when run again: /a.test.ts › one',
    '',
    '7 passed, 0 failed, 1 skipped',
  ]);
  expect(isSuccess).toBe(true);
});
