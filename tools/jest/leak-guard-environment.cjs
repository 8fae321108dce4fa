// An environment with a leak guard: a test file that leaves a handle open (a timer, socket, server or child process)
// fails. Jest alone detects this only when it runs files sequentially, and then hangs. An open handle of Jest itself
// (a timer, when it runs files sequentially) can hide one leak of that kind.
const NativeEnvironment = require('./native-environment.cjs');

// Closing sockets and killed child processes need some time, more on a loaded machine.
const settleMsDefault = 5_000;
const lookEveryMs = 25;

/** Counts the handles of each kind that keep the event loop alive. */
const countAlive = () => {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

const beyond = (before) =>
  [...countAlive()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind);

module.exports = class LeakGuardEnvironment extends NativeEnvironment {
  constructor(config, context) {
    super(config, context);
    this.settleMsMax = config.projectConfig.testEnvironmentOptions.settleMsMax ?? settleMsDefault;
  }

  async setup() {
    await super.setup();
    // Opened by the first print or read: not a leak of the file.
    void process.stdin;
    void process.stdout;
    void process.stderr;
    this.aliveBefore = countAlive();
  }

  async handleTestEvent(event) {
    if (event.name !== 'run_finish') return;
    const deadline = Date.now() + this.settleMsMax;
    while (beyond(this.aliveBefore).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    const left = beyond(this.aliveBefore);
    if (left.length > 0) throw new Error(`This file left open: ${left.join(', ')}`);
  }
};
