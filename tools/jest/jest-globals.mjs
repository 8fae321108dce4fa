/** What test files get for `@jest/globals`. Live bindings, because each test file has functions of its own. */
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test;

export const setGlobals = (globals) => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
};
