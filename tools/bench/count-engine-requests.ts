import { MongoClient } from 'mongodb';
import { Redis } from 'ioredis';
import type { BenchEngines } from './start-tocsin.ts';

/** Requests to the engines since the start, by command. */
export interface EngineRequests {
  readonly mongo: Readonly<Record<string, number>>;
  readonly redis: number;
}

/** Commands that drivers send on their own, and those of this count. */
const notCounted = new Set(['hello', 'isMaster', 'ping', 'serverStatus', 'endSessions', 'buildInfo', 'saslStart']);

/** Counts requests to MongoDB (`serverStatus`) and commands of Redis (`INFO commandstats`). */
export class EngineRequestCounter {
  readonly #mongo: MongoClient;
  readonly #redis: Redis;

  constructor({ mongoUrl, redisUrl }: Pick<BenchEngines, 'mongoUrl' | 'redisUrl'>) {
    this.#mongo = new MongoClient(mongoUrl);
    this.#redis = new Redis(redisUrl);
  }

  async read(): Promise<EngineRequests> {
    const [status, info] = await Promise.all([
      this.#mongo.db('admin').command({ serverStatus: 1, repl: 0, locks: 0, wiredTiger: 0 }),
      this.#redis.info('commandstats'),
    ]);
    const commands = (status['metrics'] as { commands: Record<string, { total?: number }> }).commands;
    const mongo = Object.entries(commands).flatMap(([name, { total }]): [string, number][] =>
      total === undefined || Number(total) === 0 || notCounted.has(name) ? [] : [[name, Number(total)]],
    );
    const redis = [...info.matchAll(/^cmdstat_(?<name>[^:]+):calls=(?<calls>\d+)/gm)].reduce(
      (sum, { groups }) => (['info', 'ping'].includes(groups!['name']!) ? sum : sum + Number(groups!['calls'])),
      0,
    );
    return { mongo: Object.fromEntries(mongo), redis };
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    await this.#mongo.close();
  }
}

/** The requests to MongoDB, of all commands. */
export const mongoRequestsOf = ({ mongo }: EngineRequests): number =>
  Object.values(mongo).reduce((sum, count) => sum + count, 0);

/** Returns the requests per operation between two counts, without commands that did not occur. */
export function requestsPer(before: EngineRequests, after: EngineRequests, operations: number): EngineRequests {
  const per = Object.entries(after.mongo)
    .map(([name, total]): [string, number] => [name, (total - (before.mongo[name] ?? 0)) / operations])
    .filter(([, count]) => count > 0);
  return { mongo: Object.fromEntries(per), redis: (after.redis - before.redis) / operations };
}
