import type { CountedProcesses } from './count-cpu.ts';

/** A running server to measure. */
export interface Target extends CountedProcesses {
  readonly name: string;
  /** Its port; on a cluster one per API node. */
  readonly ports: readonly number[];
  /** The pids of the servers and of known engines, by name. */
  readonly pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}
