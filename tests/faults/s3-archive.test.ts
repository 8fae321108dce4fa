import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { archiveStoreContract } from '@tocsin/shared/contracts/archive-store/archive-store.contract.ts';
import { openS3Archive } from '@tocsin/shared/drivers/archive/open-s3-archive.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startS3 } from '../../tools/engines/start-s3.ts';
import { startFaultyS3, type FaultyS3 } from './faulty-s3.ts';

const credentials = { AWS_ACCESS_KEY_ID: 'key-of-the-test', AWS_SECRET_ACCESS_KEY: 'secret-of-the-test' };
/** The server does not check signatures. */
const authorization =
  'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=any';
const megabyte = 1024 * 1024;

describeWithOwnEngines('an archive in a bucket', () => {
  let server: Engine;
  const opened: ArchiveStore[] = [];
  const before = { ...process.env };
  beforeAll(async () => {
    Object.assign(process.env, credentials);
    server = await startS3();
  });
  afterAll(async () => {
    for (const store of opened) await store.close();
    await server.stop();
    process.env = before;
  });

  /** Sends a request of its own, without the driver. */
  async function send(method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) {
    const headers = { authorization, ...options.headers };
    const response = await fetch(`${server.url}/${path}`, { method, ...options, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  }

  async function newBucket(headers: Record<string, string> = {}): Promise<string> {
    const bucket = `tocsin-${randomUUID()}`;
    await send('PUT', bucket, { headers });
    return bucket;
  }

  function open(bucket: string, given: { endpoint?: string; prefix?: string; timeoutMs?: number } = {}): ArchiveStore {
    const store = openS3Archive({ bucket, prefix: '', endpoint: server.url, region: 'us-east-1', ...given });
    opened.push(store);
    return store;
  }

  archiveStoreContract('S3', async () => ({
    store: open(await newBucket(), { prefix: 'installations/one' }),
    remove: () => Promise.resolve(),
  }));

  test('keys begin with the prefix of the URL', async () => {
    const bucket = await newBucket();
    await open(bucket, { prefix: 'a/b' }).put('topics/1', bodyOf(1));
    expect(await keysOf(open(bucket))).toEqual(['a/b/topics/1']);
    expect(await keysOf(open(bucket, { prefix: 'a' }))).toEqual(['b/topics/1']);
  });

  describe('with versions', () => {
    const withLock = { 'x-amz-bucket-object-lock-enabled': 'true' };

    test('a removal removes the versions of the key and no other', async () => {
      const bucket = await newBucket(withLock);
      const store = open(bucket);
      for (const key of ['a', 'a', 'a-longer']) await store.put(key, bodyOf(1));
      expect(await store.remove('a')).toBe('removed');
      const versions = await send('GET', `${bucket}?versions`);
      expect(versions.match(/<Key>[^<]*<\/Key>/g)).toEqual(['<Key>a-longer</Key>']);
    });

    test('an object under a legal hold or a retention period is locked', async () => {
      const bucket = await newBucket(withLock);
      const store = open(bucket);
      for (const key of ['held', 'retained', 'free']) await store.put(key, bodyOf(1));
      await send('PUT', `${bucket}/held?legal-hold`, { body: '<LegalHold><Status>ON</Status></LegalHold>' });
      const until = new Date(Date.now() + 86_400_000).toISOString();
      await send('PUT', `${bucket}/retained?retention`, {
        body: `<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`,
      });
      expect(await store.remove('held')).toBe('locked');
      expect(await store.remove('retained')).toBe('locked');
      expect(await store.remove('free')).toBe('removed');
      expect(await keysOf(store)).toEqual(['held', 'retained']);
    });
  });

  describe('of a faulty server', () => {
    let faulty: FaultyS3;
    let bucket: string;
    let store: ArchiveStore;
    beforeAll(async () => {
      faulty = await startFaultyS3(server.url);
    });
    afterAll(() => faulty.close());
    beforeEach(async () => {
      bucket = await newBucket();
      store = open(bucket, { endpoint: faulty.url, timeoutMs: 1_000 });
      faulty.fail(() => null);
    });

    const unavailable = (reason: string) => ({
      code: 'unavailable',
      message: expect.stringContaining(`Archive is unavailable: ${reason}`),
    });
    /** Neither an object nor an unfinished upload. */
    const expectEmpty = async () => {
      expect(await keysOf(open(bucket))).toEqual([]);
      expect(await send('GET', `${bucket}?uploads`)).not.toContain('<Upload>');
    };

    test('every operation is unavailable if the server refuses, with its code and without its text', async () => {
      await store.put('kept', bodyOf(1));
      faulty.fail(() => ({ status: 403, code: 'AccessDenied' }));
      const refused = unavailable('S3 returned 403');
      await expect(store.put('new', bodyOf(20 * megabyte))).rejects.toMatchObject(refused);
      await expect(store.get('kept')).rejects.toMatchObject(refused);
      await expect(keysOf(store)).rejects.toMatchObject(refused);
      await expect(store.remove('kept')).rejects.toMatchObject(refused);
      const error = await store.put('new', bodyOf(1)).catch((failure: unknown) => failure);
      const shown = inspect(error, { depth: null, showHidden: true });
      expect(shown).toContain('S3 returned 403 AccessDenied');
      expect(shown).not.toMatch(/secret-of|key-of-the-test/);
      expect(await keysOf(open(bucket))).toEqual(['kept']);
    });

    test('credentials that end during an upload leave no object', async () => {
      faulty.fail(({ url }) => (url!.includes('partNumber=2') ? { status: 403, code: 'ExpiredToken' } : null));
      await expect(store.put('large', bodyOf(20 * megabyte))).rejects.toMatchObject(unavailable('S3 returned 403'));
      await expectEmpty();
    });

    test('a connection that always breaks during an upload leaves no object', async () => {
      faulty.fail(({ url }) => (url!.includes('partNumber=2') ? 'cut' : null));
      await expect(store.put('large', bodyOf(20 * megabyte))).rejects.toMatchObject(unavailable('the connection'));
      await expectEmpty();
    });

    test('an upload continues after a connection that broke once and a temporary error', async () => {
      const faults: ('cut' | { status: number; code: string })[] = ['cut', { status: 503, code: 'SlowDown' }];
      faulty.fail(({ url }) => (url!.includes('partNumber=2') ? (faults.shift() ?? null) : null));
      await store.put('large', bodyOf(20 * megabyte));
      expect(faults).toEqual([]);
      expect(await lengthOf((await open(bucket).get('large'))!)).toBe(20 * megabyte);
    });

    test('a server that does not respond is unavailable after some attempts', async () => {
      faulty.fail(({ method }) => (method === 'PUT' ? 'silence' : null));
      await expect(store.put('small', bodyOf(1))).rejects.toMatchObject(unavailable('the connection'));
      await expectEmpty();
    });

    test('an object whose transfer breaks throws while it is read', async () => {
      await store.put('large', bodyOf(20 * megabyte));
      const body = (await store.get('large'))!;
      await faulty.close();
      await expect(lengthOf(body)).rejects.toMatchObject(unavailable('the connection'));
      faulty = await startFaultyS3(server.url);
    });

    test('without credentials every operation is unavailable', async () => {
      for (const name of Object.keys(credentials)) delete process.env[name];
      process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
      try {
        const refused = unavailable('no AWS credentials were found');
        await expect(open(bucket).put('a', bodyOf(1))).rejects.toMatchObject(refused);
        await expect(open(bucket).get('a')).rejects.toMatchObject(refused);
      } finally {
        Object.assign(process.env, credentials);
      }
    });

    test('a missing bucket is unavailable', async () => {
      const missing = open(`tocsin-${randomUUID()}`);
      await expect(missing.put('a', bodyOf(1))).rejects.toMatchObject(unavailable('S3 returned 404 NoSuchBucket'));
      await expect(missing.get('a')).rejects.toMatchObject(unavailable('S3 returned 404 NoSuchBucket'));
    });
  });
});

async function* bodyOf(length: number): AsyncGenerator<Uint8Array, void> {
  for (let left = length; left > 0; left -= megabyte)
    yield await Promise.resolve(Buffer.alloc(Math.min(left, megabyte)));
}

async function lengthOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const chunk of body) length += chunk.length;
  return length;
}

async function keysOf(store: ArchiveStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list('')) keys.push(key);
  return keys;
}
