import { z } from 'zod';

/** The version of what an export is; one that is newer than the program is refused. */
export const exportFormat = 1;

const part = z.strictObject({
  name: z.string().regex(/^[a-z][A-Za-z0-9]{0,39}$/),
  rows: z.int().min(0),
  digest: z.string().length(64),
  /** SHA-256 of the file as it lies there. */
  sha256: z.string().length(64),
  bytes: z.int().min(0),
});
export type ExportedPart = z.infer<typeof part>;

/** The file `manifest.json`, which is written last: an export without it is not whole. */
export const manifest = z.strictObject({
  format: z.literal(exportFormat),
  id: z.uuid(),
  exportedAt: z.iso.datetime(),
  engine: z.enum(['embedded', 'cluster']),
  /** One past the highest position that was handed out, per partition. */
  ends: z.array(z.int().min(0)).min(1).max(10_000),
  parts: z.array(part).max(1_000),
});
export type Manifest = z.infer<typeof manifest>;

export const manifestFile = 'manifest.json';
/** Readable by their owner only: the secrets that sign logins, and hashes of passwords and keys. */
export const secretFileMode = 0o600;
export const secretsFile = 'secrets.json';
export const secrets = z.strictObject({ jwtSecrets: z.array(z.string().min(32)).min(1) });

export const partFile = (name: string): string => `${name}.ndjson.gz`;
