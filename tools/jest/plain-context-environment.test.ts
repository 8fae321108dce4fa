import { expect, test } from '@jest/globals';
import { compileFunction, isContext } from 'node:vm';

test('test files have a global object without interceptors', () => {
  // Of a context with interceptors, only the object behind them is the context.
  expect(isContext(globalThis)).toBe(true);
});

test.each([`import('one')`, `import ('one')`, `import/* here */('one')`])('packages can use %s', async (call) => {
  const importModuleDynamically = (name: string) => Promise.reject(new Error(`the import of ${name}`));
  const load = compileFunction(`return ${call}`, [], { importModuleDynamically } as never) as () => unknown;
  await expect(load()).rejects.toThrow('the import of one');
});
