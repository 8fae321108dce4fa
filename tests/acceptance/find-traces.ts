import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import type { TestStack } from './stack.ts';

/**
 * Where the installation's stores hold one of the texts, as names of tables and collections, each once: every row of
 * SQLite's file, or every document of MongoDB and every key of Redis. A UUID is also found where it is stored as bytes.
 */
export async function findTraces(stack: Pick<TestStack, 'engine' | 'env'>, texts: readonly string[]): Promise<string[]> {
  const needles = texts.flatMap((text) => (/^[0-9a-f-]{36}$/.test(text) ? [text, text.replaceAll('-', '')] : [text]));
  const holds = (value: unknown) => needles.some((needle) => inOneText(value).includes(needle));
  const found = stack.engine === 'embedded'
    ? inSqlite(join(stack.env['DATA_DIR']!, 'tocsin.db'), holds)
    : [...await inMongo(stack.env['MONGO_URL']!, holds), ...await inRedis(stack.env['REDIS_URL']!, `${stack.env['KAFKA_TOPIC']!}:`, holds)];
  return [...new Set(found)].sort();
}

/** The value as JSON, with bytes in hex. */
function inOneText(value: unknown): string {
  return JSON.stringify(value, function replace(this: Record<string, unknown>, key: string, shown: unknown) {
    // Buffers and BSON's binaries have made something of themselves before they get here.
    const raw = key === '' ? value : this[key];
    if (raw instanceof Uint8Array) return Buffer.from(raw).toString('hex');
    if (raw instanceof mongoose.mongo.Binary) return Buffer.from(raw.buffer).toString('hex');
    return typeof shown === 'bigint' ? String(shown) : shown;
  });
}

function inSqlite(path: string, holds: (value: unknown) => boolean): string[] {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all().map(({ name }) => String(name));
    return tables.filter((table) => {
      const statement = db.prepare(`SELECT * FROM "${table}"`);
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) if (holds(row)) return true;
      return false;
    });
  } finally {
    db.close();
  }
}

async function inMongo(url: string, holds: (value: unknown) => boolean): Promise<string[]> {
  const connection = await mongoose.createConnection(url).asPromise();
  try {
    const found: string[] = [];
    for (const { name } of await connection.db!.listCollections().toArray()) {
      for await (const document of connection.db!.collection(name).find()) if (holds(document)) found.push(name);
    }
    return found;
  } finally {
    await connection.close();
  }
}

/** The kind of key: its parts up to what tells one from another. */
const kindOf = (key: string, prefix: string): string => `redis ${key.slice(prefix.length).split(/[:{]/)[0]}`;

async function inRedis(url: string, prefix: string, holds: (value: unknown) => boolean): Promise<string[]> {
  const redis = new Redis(url);
  try {
    const found: string[] = [];
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      for (const key of keys as string[]) if (holds([key, await contentOf(redis, key)])) found.push(kindOf(key, prefix));
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string': return redis.get(key);
    case 'hash': return redis.hgetall(key);
    case 'list': return redis.lrange(key, 0, -1);
    case 'set': return redis.smembers(key);
    case 'zset': return redis.zrange(key, '0', '-1');
    case 'stream': return redis.xrange(key, '-', '+');
    default: return null;
  }
}
