import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOrCreateSecret } from './read-or-create-secret.ts';

/** The file with the generated secret that signs logins if none is configured. */
export const generatedSecret = {
  /** Returns the secret; undefined before the first start. */
  read(dataDir: string): string | undefined {
    const file = join(dataDir, 'jwt.secret');
    return existsSync(file) ? readOrCreateSecret(file) : undefined;
  },
  /** Stores a secret for the first start. Throws if a different one exists. */
  store(dataDir: string, secret: string): void {
    const file = join(dataDir, 'jwt.secret');
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if (!existsSync(file)) writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    else if (readOrCreateSecret(file) !== secret)
      throw new Error(`${file} contains a different secret than the export: remove it`);
  },
} as const;
