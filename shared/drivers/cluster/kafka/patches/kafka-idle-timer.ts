import { kafkajsPrototype, patchOnce } from './kafkajs-internals.ts';

/** The part of kafkajs' RequestQueue that the patch uses. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
}

/**
 * Stops kafkajs 2.2.4 from waking up 868 times per second on every connection after its first response: its check for
 * throttled requests re-arms a 1 ms timer forever, which costs 5 % of a core and makes Node 24 warn of negative
 * timeouts (https://github.com/tulios/kafkajs/issues/1751). Remove this patch when the bug is fixed upstream.
 *
 * Resolves with whether the patch was applied. It is not applied to versions with other internals.
 */
export function patchKafkaIdleTimer(): boolean {
  const queue = kafkajsPrototype<RequestQueue>('network/requestQueue/index', ['scheduleCheckPendingRequests']);
  if (queue === undefined) return false;
  patchOnce(queue, () => {
    const schedule = queue.scheduleCheckPendingRequests;
    queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
      const isIdle = this.pending?.length === 0 && this.throttledUntil <= Date.now();
      if (!isIdle) schedule.call(this);
    };
  });
  return true;
}
