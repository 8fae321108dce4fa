import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Loaded into a server by `node --import`: on SIGUSR2 its clock jumps ahead of the real clock by the milliseconds in
// the file named after its process ID. Timers continue as on a machine whose clock is set.
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
let aheadMs = Number(process.env['CLOCK_AHEAD_MS'] ?? 0);

RealDate.now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, newTarget) as object,
});
RealDate.prototype.constructor = globalThis.Date; // code that checks the constructor of a date
process.on('SIGUSR2', () => {
  aheadMs = Number(readFileSync(join(process.env['CLOCKS_DIR']!, String(process.pid)), 'utf8'));
});
