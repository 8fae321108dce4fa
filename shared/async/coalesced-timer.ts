/** The shortest time between two calls, as a share of the interval: also the call after a late one has to wait. */
const gapMin = 0.25;
/** Calls that are due within this time are made together, because timers are exact to a millisecond. */
const toleranceMs = 1.5;

interface Task {
  readonly everyMs: number;
  readonly call: () => void;
  readonly isBackground: boolean;
  dueAt: number;
}

interface CoalescedOptions {
  /** Does not keep the process alive. */
  readonly isBackground?: boolean;
}

/**
 * Like `setInterval`, for what a process does every few seconds or more often: these intervals share one timer. Calls
 * are due at multiples of their interval, so a process without requests wakes a few times per second instead of fifty
 * times (each time costs 0.2 ms of CPU time). Two calls are 0.25 to 1.25 intervals apart, or more if the event loop is
 * blocked. Returns a function that ends the calls.
 */
export function coalescedInterval(
  everyMs: number,
  call: () => void,
  { isBackground = false }: CoalescedOptions = {},
): () => void {
  return coalescedTimer.add({ everyMs, call, isBackground });
}

/** Resolves at a multiple of the interval, after 0.25 to 1.25 intervals, or when the signal is aborted. */
export function coalescedPause(everyMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = coalescedTimer.add({ everyMs, call: end, isBackground: false });
    signal.addEventListener('abort', end, { once: true });
  });
}

class CoalescedTimer {
  readonly #tasks = new Set<Task>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  add(options: Omit<Task, 'dueAt'>): () => void {
    const task = { ...options, dueAt: nextTime(options.everyMs, performance.now()) };
    this.#tasks.add(task);
    this.#schedule();
    return () => {
      if (this.#tasks.delete(task)) this.#schedule();
    };
  }

  #run(): void {
    const now = performance.now();
    const due = [...this.#tasks].filter(({ dueAt }) => dueAt <= now + toleranceMs);
    for (const task of due) task.dueAt = nextTime(task.everyMs, now);
    this.#timerAt = Infinity;
    this.#schedule();
    for (const task of due) if (this.#tasks.has(task)) task.call(); // an earlier call may have ended it
  }

  #schedule(): void {
    const at = Math.min(...[...this.#tasks].map(({ dueAt }) => dueAt));
    if (at !== this.#timerAt) {
      clearTimeout(this.#timer);
      this.#timerAt = at;
      this.#timer = at === Infinity ? undefined : setTimeout(() => this.#run(), Math.max(at - performance.now(), 1));
    }
    if ([...this.#tasks].some(({ isBackground }) => !isBackground)) this.#timer?.ref();
    else this.#timer?.unref();
  }
}

const coalescedTimer = new CoalescedTimer();

function nextTime(everyMs: number, now: number): number {
  return Math.ceil((now + gapMin * everyMs) / everyMs) * everyMs;
}
