import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { readMemoryMb } from './read-memory-mb.ts';
import { whileHealthy, type Attack } from './target.ts';

const requestsPerConnection = 1_600;
/** One response shares its bytes with others, the other does not. Two connections each. */
const paths = ['/openapi.json', '/metrics', '/openapi.json', '/metrics'];
const watchedMs = 5_000;
const memoryMbMax = 100;
const healthMsMax = 1_000;

/**
 * Sends 1,600 requests for a large document or the metrics on each connection and reads no response. Memory must stay
 * flat.
 */
export const pipelinedRequests: Attack = {
  name: 'pipelined requests',
  async run(target) {
    const { hostname, port } = target.url;
    const residentMb = async () => (await readMemoryMb(target.url))?.resident ?? null;
    const before = await residentMb();
    const { result: after, healthMs } = await whileHealthy(target, async () => {
      const sockets = await Promise.all(
        paths.map(async (path) => {
          const socket = connect({ host: hostname, port: Number(port) });
          socket.on('error', () => undefined);
          await once(socket, 'connect');
          socket.pause();
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requestsPerConnection));
          return socket;
        }),
      );
      let highest = 0;
      for (const began = performance.now(); performance.now() - began < watchedMs;) {
        highest = Math.max(highest, (await residentMb()) ?? 0);
        await pause(250);
      }
      for (const socket of sockets) socket.destroy();
      return highest;
    });
    const addedMb = before === null ? null : Math.round(after - before);
    const faults = [
      ...((addedMb ?? 0) <= memoryMbMax ? [] : [`memory grew by ${addedMb} MB`]),
      ...(healthMs <= healthMsMax ? [] : [`/health/live took ${healthMs} ms`]),
    ];
    return { figures: { requests: paths.length * requestsPerConnection, addedMb, healthMs }, faults };
  },
};
