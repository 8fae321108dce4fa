import { countCpu, type CountedProcesses, type CpuPerOperation } from './count-cpu.ts';
import { HttpConnection, publishRequest } from './http-connection.ts';
import { percentiles, type Percentiles } from './percentiles.ts';

/** What is asked of the generator, as JSON in its first argument. */
export interface PublishLoad extends CountedProcesses {
  /** The connections are spread over them. */
  readonly ports: readonly number[];
  readonly paths: readonly string[];
  readonly connections: number;
  readonly requests: number;
  readonly secondsMax: number;
  readonly textBytes: number;
}

/** What it prints. */
export interface PublishResult {
  readonly done: number;
  readonly not200: number;
  readonly seconds: number;
  readonly latencyMs: Percentiles;
  readonly cpuUs: CpuPerOperation;
}

/** Publishes on keep-alive connections, each as fast as it is answered, until the requests or the time are used up. */
async function generate(load: PublishLoad): Promise<PublishResult> {
  const requests = load.paths.map((path) => publishRequest(path, 'x'.repeat(load.textBytes)));
  const portOf = (index: number) => load.ports[index % load.ports.length]!;
  const connections = await Promise.all(Array.from({ length: load.connections }, (_, index) => HttpConnection.open(portOf(index))));
  const latencies: number[] = [];
  let sent = 0;
  let not200 = 0;
  const cpuOf = countCpu(load);
  const began = performance.now();
  const endsAt = began + load.secondsMax * 1_000;
  await Promise.all(connections.map(async (connection) => {
    while (sent < load.requests && performance.now() < endsAt) {
      const request = requests[sent++ % requests.length]!;
      const from = performance.now();
      if (await connection.request(request) !== 200) not200 += 1;
      latencies.push(performance.now() - from);
    }
  }));
  const seconds = (performance.now() - began) / 1_000;
  const cpuUs = cpuOf(latencies.length);
  for (const connection of connections) connection.close();
  return { done: latencies.length, not200, seconds, latencyMs: percentiles(latencies), cpuUs };
}

process.stdout.write(`${JSON.stringify(await generate(JSON.parse(process.argv[2]!) as PublishLoad))}\n`);
