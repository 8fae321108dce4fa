import { expect, test } from '@jest/globals';
import { isContext } from 'node:vm';

test('test files have a global object without interceptors', () => {
  // Of a context with interceptors, only the object behind them is the context.
  expect(isContext(globalThis)).toBe(true);
});
