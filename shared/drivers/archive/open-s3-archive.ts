import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  NoSuchKey,
  S3Client,
  S3ServiceException,
  type ListObjectsV2CommandOutput,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { checkArchiveKey, type ArchiveStore } from '../../ports/archive-store.ts';
import { archiveFailure } from './archive-failure.ts';

export interface S3ArchiveOptions {
  readonly bucket: string;
  /** Begins every key; empty for none. */
  readonly prefix: string;
  /** Undefined for the endpoint of AWS. */
  readonly endpoint: string | undefined;
  /** Undefined for the region of the SDK's own settings. */
  readonly region: string | undefined;
  /** For tests. */
  readonly timeoutMs?: number;
}

/** Attempts per request; the SDK waits up to some seconds between them. */
const attemptsMax = 4;
/** Longest time to connect, to send a part and to respond, and longest silence of a response. */
const defaultTimeoutMs = 30_000;
/** Size of the parts of an upload. The limit of 10,000 parts allows objects of 80 GB. */
const partBytes = 8 * 1024 * 1024;
/** Keys per page of a listing. */
const keysPerPage = 1_000;

/** Opens an archive in a bucket. Credentials come from the SDK's usual chain. */
export function openS3Archive({
  bucket: Bucket,
  prefix,
  endpoint,
  region,
  timeoutMs = defaultTimeoutMs,
}: S3ArchiveOptions): ArchiveStore {
  const base = prefix === '' ? '' : `${prefix}/`;
  const client = new S3Client({
    maxAttempts: attemptsMax,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
    },
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  const keyOf = (key: string): string => {
    checkArchiveKey(base + key);
    return base + key;
  };
  return {
    put: (key, body) => upload(client, { Bucket, Key: keyOf(key) }, body),
    get: (key) => download(client, { Bucket, Key: keyOf(key) }),
    list: (keysPrefix) => listKeys(client, { Bucket, base, Prefix: base + keysPrefix }),
    remove: (key) => removeObject(client, { Bucket, Key: keyOf(key) }),
    close: () => Promise.resolve(client.destroy()),
  };
}

/** An object of a bucket. */
interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

/** Uploads in parts, so that the size need not be known. The server checks the checksum of each part. */
async function upload(client: S3Client, place: Place, body: AsyncIterable<Uint8Array>): Promise<void> {
  let bodyError: unknown = null;
  const watched = watchErrors(body, (error) => (bodyError = error));
  try {
    await new Upload({
      client,
      params: { ...place, Body: Readable.from(watched), ChecksumAlgorithm: 'SHA256' },
      partSize: partBytes,
      queueSize: 1,
    }).done();
  } catch (error) {
    throw bodyError ?? failure(error);
  }
}

/** Reports an error of the items themselves, but not one that their reader throws into a generator. */
function watchErrors<T>(items: AsyncIterable<T>, onError: (error: unknown) => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const source = items[Symbol.asyncIterator]();
      return {
        next: () =>
          source.next().catch((error: unknown) => {
            onError(error);
            throw error;
          }),
        return: async () => (await source.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

async function download(client: S3Client, place: Place): Promise<AsyncIterable<Uint8Array> | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand(place));
    return orUnavailable(Body as Readable);
  } catch (error) {
    if (error instanceof NoSuchKey) return null;
    throw failure(error);
  }
}

async function* orUnavailable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error);
  }
}

async function* listKeys(
  client: S3Client,
  { base, ...of }: { Bucket: string; Prefix: string; base: string },
): AsyncGenerator<string, void> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({ ...of, ContinuationToken: token, MaxKeys: keysPerPage });
    const page: ListObjectsV2CommandOutput = await sent(client.send(command));
    for (const { Key } of page.Contents ?? []) yield Key!.slice(base.length);
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

/**
 * Removes every version, because in a versioned bucket a deletion without a version only hides the object. Locks exist
 * only in versioned buckets.
 */
async function removeObject(client: S3Client, place: Place): Promise<'removed' | 'locked'> {
  let isLocked = false;
  for (const VersionId of await versionsOf(client, place)) {
    try {
      await client.send(new DeleteObjectCommand({ ...place, VersionId }));
    } catch (error) {
      if (!(await isVersionLocked(client, { ...place, VersionId }))) throw failure(error);
      isLocked = true;
    }
  }
  return isLocked ? 'locked' : 'removed';
}

/** Returns the versions of the object and its deletions. A bucket without versions has one version, `null`. */
async function versionsOf(client: S3Client, { Bucket, Key }: Place): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  let next: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
  while (next !== undefined) {
    const page: ListObjectVersionsCommandOutput = await sent(
      client.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key, ...next })),
    );
    const entries = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
    found.push(...entries.filter((entry) => entry.Key === Key).map(({ VersionId }) => VersionId));
    // Versions of longer keys follow.
    const isLast = page.IsTruncated !== true || page.NextKeyMarker !== Key;
    next = isLast ? undefined : { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
  }
  return found;
}

/** S3 refuses to delete a locked version with the same error as without permission. */
async function isVersionLocked(client: S3Client, version: Place & { VersionId: string | undefined }): Promise<boolean> {
  const { ObjectLockLegalHoldStatus, ObjectLockRetainUntilDate } = await sent(
    client.send(new HeadObjectCommand(version)),
  );
  return (
    ObjectLockLegalHoldStatus === 'ON' ||
    (ObjectLockRetainUntilDate !== undefined && ObjectLockRetainUntilDate.getTime() > Date.now())
  );
}

async function sent<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    throw failure(error);
  }
}

/** Names the response or the failure of the connection. The SDK's own error can contain parts of the request. */
function failure(error: unknown): Error {
  if (error instanceof S3ServiceException)
    return archiveFailure(`S3 returned ${error.$metadata.httpStatusCode ?? 'an error'} ${error.name}`);
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === 'CredentialsProviderError') return archiveFailure('no AWS credentials were found');
  return archiveFailure(`the connection to S3 failed (${code ?? name})`);
}
