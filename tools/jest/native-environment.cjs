const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** The environment of `native-runtime.cjs`: the process itself. Restores what Jest and a test file change in it. */
module.exports = class NativeEnvironment {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);
  before = { env: { ...process.env }, exit: process.exit, console };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    // Instead of Jest's formatter, which looks for source maps. Jest prints paths relative to the root, but not URLs.
    Error.prepareStackTrace = (error, callSites) =>
      [String(error), ...callSites.map((site) => String(site).replace('file://', ''))].join('\n    at ');
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const name of Object.keys(process.env)) if (!(name in this.before.env)) delete process.env[name];
    Object.assign(process.env, this.before.env);
    process.exit = this.before.exit;
    globalThis.console = this.before.console;
  }

  /** Jest requires the method, but only its own module loader uses the context. */
  getVmContext() {
    return null;
  }
};
