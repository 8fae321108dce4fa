import type { CountedProcesses } from './count-cpu.ts';

/** A running server that is measured. */
export interface Target extends CountedProcesses {
  readonly name: string;
  /** Where it listens; of a cluster one per API node. */
  readonly ports: readonly number[];
  stop(): Promise<void>;
}
