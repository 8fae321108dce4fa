import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Loaded into a server by `node --import`: on SIGUSR2 its clock jumps to as many milliseconds ahead of the real one as the file
// says that is called by its process id. Timers go on as they do on a machine whose clock is set.
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
let aheadMs = 0;

RealDate.now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, newTarget) as object,
});
RealDate.prototype.constructor = globalThis.Date; // whoever asks what made a date
process.on('SIGUSR2', () => {
  aheadMs = Number(readFileSync(join(process.env['CLOCKS_DIR']!, String(process.pid)), 'utf8'));
});
