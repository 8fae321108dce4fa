// Jest's Node environment, and a guard: a test file that leaves behind what keeps a process alive (a timer, a socket, a
// server, a child process) fails. Jest alone only notices it when it runs files one by one, and then hangs. A kind that Jest
// itself has open beside the file (a timer, when it runs files one by one) can hide one leak of that kind.
const { TestEnvironment } = require('jest-environment-node');

// Sockets that were told to close and child processes that were killed need a moment, more of it on a loaded machine.
const settleMsDefault = 5_000;
const lookEveryMs = 25;

/** How many of each kind keep the event loop alive. */
const countAlive = () => {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

const beyond = (before) =>
  [...countAlive()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind);

module.exports = class LeakGuardEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.settleMsMax = config.projectConfig.testEnvironmentOptions.settleMsMax ?? settleMsDefault;
  }

  async setup() {
    await super.setup();
    // Opened when first used, by whatever prints first, and by Jest for the first file that imports `node:process`: no leak of the file.
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
