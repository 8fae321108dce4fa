import { z } from 'zod';

/** The version of the export format; newer versions are rejected. */
export const exportFormat = 1;

const part = z.strictObject({
  name: z.string().regex(/^[a-z][A-Za-z0-9]{0,39}$/),
  rows: z.int().min(0),
  digest: z.string().length(64),
  /** SHA-256 of the file. */
  sha256: z.string().length(64),
  bytes: z.int().min(0),
});
export type ExportedPart = z.infer<typeof part>;

/** The file `manifest.json`. It is written last; an export without it is incomplete. */
export const manifest = z.strictObject({
  format: z.literal(exportFormat),
  id: z.uuid(),
  exportedAt: z.iso.datetime(),
  engine: z.enum(['embedded', 'cluster']),
  /** Per partition, the offset after the highest one assigned. */
  ends: z.array(z.int().min(0)).min(1).max(10_000),
  parts: z.array(part).max(1_000),
});
export type Manifest = z.infer<typeof manifest>;

export const manifestFile = 'manifest.json';
/** Mode of files with secrets and hashes of passwords and keys: readable by their owner only. */
export const secretFileMode = 0o600;
export const secretsFile = 'secrets.json';
export const secrets = z.strictObject({
  /** They sign logins. */
  jwtSecrets: z.array(z.string().min(32)).min(1),
  /** It signs pushes to browsers; absent in exports of older versions and without web push. */
  vapidPrivateKey: z.string().length(43).exactOptional(),
});
export type MovedSecrets = z.infer<typeof secrets>;

export const partFile = (name: string): string => `${name}.ndjson.gz`;
