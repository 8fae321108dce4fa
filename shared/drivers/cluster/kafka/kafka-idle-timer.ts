import { createRequire } from 'node:module';

/** The part of kafkajs' RequestQueue that the patch uses. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
}

const patched = Symbol('tocsin: idle timer patched');

/**
 * Stops kafkajs 2.2.4 from waking up 868 times per second on every connection after its first response: its check for throttled requests re-arms a 1 ms timer forever, which costs 5 % of a core and makes Node 24 warn of negative timeouts (https://github.com/tulios/kafkajs/issues/1751). Remove this patch when the bug is fixed upstream.
 *
 * Resolves with whether the patch was applied. It is not applied to versions with other internals.
 */
export function patchKafkaIdleTimer(): boolean {
  const proto = requestQueuePrototype();
  if (proto === undefined) return false;
  if (patched in proto) return true;
  const schedule = proto.scheduleCheckPendingRequests;
  proto.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    const isIdle = this.pending?.length === 0 && this.throttledUntil <= Date.now();
    if (!isIdle) schedule.call(this);
  };
  Object.defineProperty(proto, patched, { value: true });
  return true;
}

function requestQueuePrototype(): RequestQueue | undefined {
  try {
    const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype?: RequestQueue };
    return typeof queue.prototype?.scheduleCheckPendingRequests === 'function' ? queue.prototype : undefined;
  } catch {
    return undefined; // the file does not exist in other versions
  }
}
