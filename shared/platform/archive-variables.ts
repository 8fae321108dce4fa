import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { httpUrl, variableDocs } from './variable-types.ts';

/** Where the archive is. */
export type ArchiveConfig =
  | { readonly kind: 'files'; readonly dir: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Begins every key; without a slash at either end, empty for none. */
      readonly prefix: string;
      /** Undefined for the endpoint of AWS. */
      readonly endpoint: string | undefined;
      /** Undefined for the region of the SDK's own settings. */
      readonly region: string | undefined;
    };

/** The variables of the archive. */
export const archive = {
  ARCHIVE_URL: z.string().optional().register(variableDocs, {
    description: '[archive](archive.md) of messages that retention removes: `file:///path` or `s3://bucket/prefix`',
    defaultText: 'no archive',
    example: 's3://tocsin-archive/production',
  }),
  ARCHIVE_S3_ENDPOINT: httpUrl.optional().register(variableDocs, {
    description: 'URL of another S3 server; the bucket is then part of the path',
    defaultText: `Amazon's own`,
    example: 'https://minio.example.org',
  }),
  ARCHIVE_S3_REGION: z.string().optional().register(variableDocs, {
    description: 'region of the bucket',
    defaultText: '`AWS_REGION` or the profile; `us-east-1` with `ARCHIVE_S3_ENDPOINT`',
    example: 'eu-central-1',
  }),
};

const bucketPattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Reads the variables; adds a fault and returns undefined if they cannot be used. */
export function readArchive(env: NodeJS.ProcessEnv, faults: string[]): ArchiveConfig | undefined {
  const { ARCHIVE_URL: text, ARCHIVE_S3_ENDPOINT: endpoint, ARCHIVE_S3_REGION: region } = env;
  const url = text === undefined ? undefined : URL.parse(text);
  if (url?.protocol !== 's3:' && (endpoint ?? region) !== undefined)
    faults.push('ARCHIVE_S3_ENDPOINT and ARCHIVE_S3_REGION require ARCHIVE_URL=s3://bucket/prefix');
  if (url === undefined) return undefined;
  const read = url?.protocol === 'file:' ? readFileUrl(url) : url?.protocol === 's3:' ? readS3Url(url) : null;
  if (read === null) {
    faults.push('ARCHIVE_URL: must be file:///path, an absolute path, or s3://bucket/prefix, without user or query');
    return undefined;
  }
  return read.kind === 's3' ? { ...read, endpoint, region: region ?? (endpoint && 'us-east-1') } : read;
}

function readFileUrl(url: URL): (ArchiveConfig & { kind: 'files' }) | null {
  if (url.host !== '' || url.search !== '' || url.hash !== '' || url.pathname === '/') return null;
  try {
    return { kind: 'files', dir: fileURLToPath(url) };
  } catch {
    return null; // An encoded slash.
  }
}

function readS3Url(url: URL): { kind: 's3'; bucket: string; prefix: string } | null {
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  const isPlain = url.username === '' && url.password === '' && url.port === '' && url.search === '' && url.hash === '';
  if (!isPlain || !bucketPattern.test(url.hostname) || !(prefix === '' || prefixPattern.test(prefix))) return null;
  return { kind: 's3', bucket: url.hostname, prefix };
}
