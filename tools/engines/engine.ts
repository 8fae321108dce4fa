/** One running engine, or one node of it. It runs in a session of its own and lives until somebody stops it. */
export type Engine = {
  /** What goes into KAFKA_BROKERS, MONGO_URL or REDIS_URL. Stays the same over restarts. */
  readonly url: string;
  /** Changes with every restart. */
  readonly pid: number;
  /** Where the program writes its log; a restart begins a new file. */
  readonly logFile: string;
  /** Ends the engine, paused or not, and removes its state unless it is kept. A second call does nothing. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would: returns when the process is gone. The state stays for `restart`. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  /** SIGCONT after `pause`. */
  resume(): void;
  /** Starts again on the same port with the same state, after a clean stop if it still runs. Returns when it serves. */
  restart(): Promise<void>;
};

export type EngineOptions = {
  /** A free port below the ephemeral range by default. */
  port?: number;
  /** Where the state lives; it is never removed. By default a temporary directory that `stop` removes. */
  dataDir?: string;
  /** Whether `stop` leaves the temporary directory. */
  keep?: boolean;
  /** Takes the progress lines; stderr by default. */
  report?: (line: string) => void;
  /**
   * Whether the engine is meant to outlive this process. If not, the next start anywhere ends what this process left
   * behind.
   */
  outlives?: boolean;
  /**
   * Whether it is to serve as in earnest rather than to be tested with: its state is on the disk, and Kafka is compiled well.
   * By default when it outlives this process.
   */
  isForLong?: boolean;
};
