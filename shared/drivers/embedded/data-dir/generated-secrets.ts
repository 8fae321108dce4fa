import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VapidKeys } from '../../../domain/push/vapid-keys.ts';
import { newVapidPrivateKey, vapidPublicKeyOf } from '../../../platform/vapid-keys.ts';

/** A file in the data directory with a secret that is generated if none is configured; readable by its owner only. */
function generatedSecret(name: string, generate: () => string) {
  const fileOf = (dataDir: string): string => join(dataDir, name);
  const read = (file: string): string => readFileSync(file, 'utf8').trim();
  const write = (file: string, secret: string): void => writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return {
    /** Returns the secret; undefined before the first start. */
    read(dataDir: string): string | undefined {
      const file = fileOf(dataDir);
      return existsSync(file) ? read(file) : undefined;
    },
    /** Returns the secret, which the first call generates. */
    readOrCreate(dataDir: string): string {
      const file = fileOf(dataDir);
      if (existsSync(file)) return read(file);
      const secret = generate();
      write(file, secret);
      return secret;
    },
    /** Stores a secret for the first start. Throws if a different one exists. */
    store(dataDir: string, secret: string): void {
      const file = fileOf(dataDir);
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      if (!existsSync(file)) write(file, secret);
      else if (read(file) !== secret) throw new Error(`${file} contains a different secret than the export: remove it`);
    },
  } as const;
}

/** `jwt` signs logins, `vapid` pushes to browsers. */
export const generatedSecrets = {
  jwt: generatedSecret('jwt.secret', () => randomBytes(48).toString('base64url')),
  vapid: generatedSecret('vapid.key', newVapidPrivateKey),
} as const;

/** Returns the generated keys of web push. Throws if the file contains no key. */
export function generatedVapidKeys(dataDir: string): VapidKeys {
  const privateKey = generatedSecrets.vapid.readOrCreate(dataDir);
  try {
    return { publicKey: vapidPublicKeyOf(privateKey), privateKey };
  } catch (cause) {
    throw new Error(`${join(dataDir, 'vapid.key')} contains no private key of P-256: restore or remove it`, { cause });
  }
}
