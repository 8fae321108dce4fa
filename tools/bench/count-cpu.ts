import { cpuMs } from './process-usage.ts';

/** Whose CPU time is counted. */
export interface CountedProcesses {
  /** The servers that are measured. */
  readonly serverPids: readonly number[];
  /** Kafka, MongoDB and Redis under them, where their processes are known. */
  readonly enginePids: readonly number[];
}

/** CPU time per operation, in microseconds. */
export interface CpuPerOperation {
  readonly server: number;
  /** Null where there are no engines, or nobody knows their processes. */
  readonly engines: number | null;
  readonly generator: number;
}

/** Starts to count CPU time; the returned function tells what one of so many operations has cost since. */
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
