import type { CountedProcesses } from './count-cpu.ts';

/** A running server to measure. */
export interface Target extends CountedProcesses {
  readonly name: string;
  /** Its port; on a cluster one per API node. */
  readonly ports: readonly number[];
  stop(): Promise<void>;
}
