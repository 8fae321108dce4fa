import { cpuMs } from './process-usage.ts';

/** The processes whose CPU time is counted. */
export interface CountedProcesses {
  /** The measured servers. */
  readonly serverPids: readonly number[];
  /** Kafka, MongoDB and Redis, if their processes are known. */
  readonly enginePids: readonly number[];
}

/** CPU time per operation, in microseconds. */
export interface CpuPerOperation {
  readonly server: number;
  /** Null if no engine processes are known. */
  readonly engines: number | null;
  readonly generator: number;
}

/** Starts to count CPU time. The returned function returns the CPU time per operation since then. */
export function countCpu({ serverPids, enginePids }: CountedProcesses): (operations: number) => CpuPerOperation {
  const before = { server: cpuMs(serverPids), engines: cpuMs(enginePids), own: process.cpuUsage() };
  return (operations) => {
    const own = process.cpuUsage(before.own);
    const per = (ms: number) => (ms * 1_000) / operations;
    return {
      server: per(cpuMs(serverPids) - before.server),
      engines: enginePids.length === 0 ? null : per(cpuMs(enginePids) - before.engines),
      generator: (own.user + own.system) / operations,
    };
  };
}
