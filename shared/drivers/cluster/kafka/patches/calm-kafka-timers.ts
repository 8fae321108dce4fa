import { coalescedInterval } from '../../../../async/coalesced-timer.ts';
import { patchOnce } from '../../../../platform/patch-library.ts';
import { kafkajsPrototype } from './kafkajs-internals.ts';

/** The part of kafkajs' RequestQueue that the patch uses. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  readonly inflight: ReadonlyMap<number, SocketRequest>;
  readonly isConnected: () => boolean;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}

interface SocketRequest {
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

const patchedMethods = ['scheduleCheckPendingRequests', 'scheduleRequestTimeoutCheck', 'destroy'] as const;

/** How late a request times out; the shortest timeout is 2 s. */
const timeoutsCheckedMs = 500;

/**
 * Reduces the CPU time of idle connections of kafkajs 2.2.4:
 *
 * - Its check for throttled requests re-arms a 1 ms timer forever, which costs 5 % of a core and makes Node 24 warn of
 *   negative timeouts (https://github.com/tulios/kafkajs/issues/1751). The timer now runs only for waiting requests.
 * - Each connection checks ten times per second for requests that timed out. One timer now checks all connections.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function calmKafkaTimers(): boolean {
  const queue = kafkajsPrototype<RequestQueue>('network/requestQueue/index', patchedMethods);
  if (queue === undefined) return false;
  patchOnce(queue, () => {
    const schedule = queue.scheduleCheckPendingRequests;
    queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
      const isIdle = this.pending?.length === 0 && this.throttledUntil <= Date.now();
      if (!isIdle) schedule.call(this);
    };
    const timeouts = new TimeoutCheck();
    queue.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
      timeouts.add(this);
    };
    const destroy = queue.destroy;
    queue.destroy = function (this: RequestQueue): void {
      timeouts.remove(this);
      destroy.call(this);
    };
  });
  return true;
}

/** Ends requests that timed out, for all connections of the process. */
class TimeoutCheck {
  readonly #queues = new Set<RequestQueue>();
  #stop: (() => void) | undefined;

  add(queue: RequestQueue): void {
    this.#queues.add(queue);
    this.#stop ??= coalescedInterval(timeoutsCheckedMs, () => this.#check());
  }

  remove(queue: RequestQueue): void {
    this.#queues.delete(queue);
    if (this.#queues.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #check(): void {
    const now = Date.now();
    for (const queue of this.#queues) {
      for (const request of queue.inflight.values())
        if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
      if (!queue.isConnected()) this.remove(queue);
    }
  }
}
