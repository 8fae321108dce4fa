import { createServer } from 'node:net';

/**
 * Linux assigns local ports of outgoing connections from 32768 upwards. Engine ports must be below: while an engine is
 * down, another connection could take its port, and a reconnecting client could even connect to itself.
 */
const firstPort = 20_000;
const lastPort = 31_999;
const attemptsMax = 1_000;

/** Returns `count` different ports of 127.0.0.1 that are free now. */
export const freePorts = async (count: number): Promise<number[]> => {
  const found = new Set<number>();
  for (let attempt = 0; attempt < attemptsMax && found.size < count; attempt++) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort + 1));
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  if (found.size < count) throw new Error(`No ${count} free ports between ${firstPort} and ${lastPort}`);
  return [...found];
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });

/** The port of an engine is already in use. */
export class PortTakenError extends Error {}

const startsMax = 3;

/**
 * Calls `start` with the given port or with `count` free ports. Retries with other ports if they were taken in the
 * meantime.
 */
export const startOnFreePorts = async <T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      if (!isPortTaken(error) || attempt === startsMax) throw error;
    }
  }
};

const isPortTaken = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.some(isPortTaken) : error instanceof PortTakenError;
