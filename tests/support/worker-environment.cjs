const ClosingEnvironment = require('../../tools/jest/closing-environment.cjs');

/** The environment of the acceptance files: `fetch` checks each response, see fetch-checked.ts. */
module.exports = class WorkerEnvironment extends ClosingEnvironment {
  async setup() {
    await super.setup();
    const { fetchChecked } = await import('./fetch-checked.ts');
    this.plainFetch = globalThis.fetch;
    globalThis.fetch = fetchChecked;
  }

  async teardown() {
    globalThis.fetch = this.plainFetch;
    await super.teardown();
  }
};
