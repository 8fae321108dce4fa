const NativeEnvironment = require('./native-environment.cjs');

/**
 * An environment that runs the outermost `afterAll` hooks of each file. Jest leaves them out if the file skips
 * all its tests, and what the file started while it loaded, such as a server, would keep the run from ending.
 */
module.exports = class ClosingEnvironment extends NativeEnvironment {
  hasRun = false;

  async handleTestEvent(event, { rootDescribeBlock }) {
    if (event.name === 'hook_start' || event.name === 'test_fn_start') this.hasRun = true;
    if (event.name !== 'run_finish' || this.hasRun) return;
    for (const { type, fn } of rootDescribeBlock.hooks) if (type === 'afterAll') await fn();
  }
};
