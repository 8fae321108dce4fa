import { setTimeout as pause } from 'node:timers/promises';
import { countCpu, type CountedProcesses, type CpuPerOperation } from './count-cpu.ts';
import { HttpConnection } from './http-connection.ts';
import { percentiles, type Percentiles } from './percentiles.ts';

/** How to send the requests. */
export interface RequestLoad extends CountedProcesses {
  /** Connections are distributed over these ports. */
  readonly ports: readonly number[];
  readonly connections: number;
  readonly requests: number;
  readonly secondsMax: number;
  /**
   * Sends at this rate regardless of response times; latency counts from the due time. If absent, a connection sends
   * its next request after each response.
   */
  readonly perSecond?: number;
}

/** The result of the requests. */
export interface RequestResult {
  readonly done: number;
  readonly not200: number;
  readonly seconds: number;
  readonly latencyMs: Percentiles;
  readonly cpuUs: CpuPerOperation;
}

/** Sends the requests in rotation on keep-alive connections until the number of requests or the time is reached. */
export async function driveConnections(load: RequestLoad, requests: readonly Buffer[]): Promise<RequestResult> {
  const portOf = (index: number) => load.ports[index % load.ports.length]!;
  const connections = await Promise.all(
    Array.from({ length: load.connections }, (_, index) => HttpConnection.open(portOf(index))),
  );
  const latencies: number[] = [];
  let sent = 0;
  let not200 = 0;
  const cpuOf = countCpu(load);
  const began = performance.now();
  const endsAt = began + load.secondsMax * 1_000;
  await Promise.all(
    connections.map(async (connection) => {
      while (sent < load.requests && performance.now() < endsAt) {
        const dueAt = load.perSecond === undefined ? undefined : began + (sent / load.perSecond) * 1_000;
        const request = requests[sent++ % requests.length]!;
        if (dueAt !== undefined && dueAt > performance.now()) await pause(dueAt - performance.now());
        const from = dueAt ?? performance.now();
        if ((await connection.request(request)) !== 200) not200 += 1;
        latencies.push(performance.now() - from);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const cpuUs = cpuOf(latencies.length);
  for (const connection of connections) connection.close();
  return { done: latencies.length, not200, seconds, latencyMs: percentiles(latencies), cpuUs };
}
