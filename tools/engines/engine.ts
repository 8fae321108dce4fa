/** A running engine or one node of it. It runs in its own session until it is stopped. */
export type Engine = {
  /** The value for KAFKA_BROKERS, MONGO_URL or REDIS_URL. A restart keeps it. */
  readonly url: string;
  /** Changes with every restart. */
  readonly pid: number;
  /** The program's log file. A restart truncates it. */
  readonly logFile: string;
  /** Stops the engine, paused or not, and removes its state unless it is kept. A second call does nothing. */
  stop(): Promise<void>;
  /** Sends SIGKILL, like a crash. Resolves when the process has exited. Keeps the state for `restart`. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: connections stay open, but the engine does not respond. */
  pause(): void;
  /** Sends SIGCONT after `pause`. */
  resume(): void;
  /** Restarts on the same port with the same state, after a clean stop if it still runs. Resolves when it serves. */
  restart(): Promise<void>;
};

export type EngineOptions = {
  /** Default: a free port below the ephemeral range. */
  port?: number;
  /** Directory of the state, never removed. Default: a temporary directory that `stop` removes. */
  dataDir?: string;
  /** Whether `stop` keeps the temporary directory. */
  keep?: boolean;
  /** Receives progress lines; default: standard error. */
  report?: (line: string) => void;
  /**
   * Whether the engine outlives this process. If not, and this process exits without stopping it, the next start of any
   * engine ends it.
   */
  outlives?: boolean;
  /**
   * Whether to configure the engine as in production: state on disk, and full JIT compilation for Kafka.
   * Default: whether it outlives this process.
   */
  isForLong?: boolean;
};
