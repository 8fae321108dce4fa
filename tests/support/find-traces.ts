import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import type { TestStack } from './stack.ts';

/**
 * Returns, for each text, the sorted names of the tables and collections that contain it. One pass reads every row of
 * the SQLite file, or every MongoDB document and every Redis key. Also finds UUIDs that are stored as bytes.
 */
export async function findTraces(
  stack: Pick<TestStack, 'engine' | 'env'>,
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const places = new Map(texts.map((text) => [text, new Set<string>()]));
  const look: Look = (place, value) => {
    const content = inOneText(value);
    for (const [text, found] of places)
      if (content.includes(text) || (isUuid.test(text) && content.includes(text.replaceAll('-', '')))) found.add(place);
  };
  if (stack.engine === 'embedded') lookInSqlite(join(stack.env['DATA_DIR']!, 'tocsin.db'), look);
  else {
    await lookInMongo(stack.env['MONGO_URL']!, look);
    await lookInRedis(stack.env['REDIS_URL']!, `${stack.env['KAFKA_TOPIC']!}:`, look);
  }
  return new Map([...places].map(([text, found]) => [text, [...found].sort()]));
}

const isUuid = /^[0-9a-f-]{36}$/;

/** Called with each stored value and the name of its place. */
type Look = (place: string, value: unknown) => void;

/** The value as JSON, with bytes in hex. */
function inOneText(value: unknown): string {
  return JSON.stringify(value, function replace(this: Record<string, unknown>, key: string, shown: unknown) {
    // Buffers and BSON binaries have already been serialized here.
    const raw = key === '' ? value : this[key];
    if (raw instanceof Uint8Array) return Buffer.from(raw).toString('hex');
    if (raw instanceof mongoose.mongo.Binary) return Buffer.from(raw.buffer).toString('hex');
    return typeof shown === 'bigint' ? String(shown) : shown;
  });
}

function lookInSqlite(path: string, look: Look): void {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    for (const { name } of db
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .all()) {
      const statement = db.prepare(`SELECT * FROM "${String(name)}"`);
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) look(String(name), row);
    }
  } finally {
    db.close();
  }
}

async function lookInMongo(url: string, look: Look): Promise<void> {
  const connection = await mongoose.createConnection(url).asPromise();
  try {
    for (const { name } of await connection.db!.listCollections().toArray()) {
      for await (const document of connection.db!.collection(name).find()) look(name, document);
    }
  } finally {
    await connection.close();
  }
}

/** The kind of a key: its parts before the distinguishing ones. */
const kindOf = (key: string, prefix: string): string => `redis ${key.slice(prefix.length).split(/[:{]/)[0]}`;

async function lookInRedis(url: string, prefix: string, look: Look): Promise<void> {
  const redis = new Redis(url);
  try {
    for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      const keys = found as string[];
      const types = await inOneGo(
        redis,
        keys.map((key) => ['type', key]),
      );
      const contents = await inOneGo(
        redis,
        keys.map((key, index) => readers[String(types[index])]?.(key) ?? ['exists', key]),
      );
      keys.forEach((key, index) => look(kindOf(key, prefix), [key, contents[index]]));
    }
  } finally {
    redis.disconnect();
  }
}

/** The command that reads a key completely, by its type. */
const readers: Readonly<Record<string, (key: string) => string[]>> = {
  string: (key) => ['get', key],
  hash: (key) => ['hgetall', key],
  list: (key) => ['lrange', key, '0', '-1'],
  set: (key) => ['smembers', key],
  zset: (key) => ['zrange', key, '0', '-1'],
  stream: (key) => ['xrange', key, '-', '+'],
};

/** The replies of pipelined commands; sent one by one they dominate the runtime. Throws if one failed. */
async function inOneGo(redis: Redis, commands: string[][]): Promise<unknown[]> {
  const answers = await redis.pipeline(commands).exec();
  return answers!.map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}
