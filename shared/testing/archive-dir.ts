import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchiveStore } from '../open-archive-store.ts';
import type { ArchiveStore } from '../ports/archive-store.ts';

export interface ArchiveDir {
  readonly dir: string;
  readonly store: ArchiveStore;
  close(): Promise<void>;
}

/** Opens an archive in a temporary directory, which `close` removes. */
export async function openArchiveDir(): Promise<ArchiveDir> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-archive-'));
  const store = (await openArchiveStore({ archive: { kind: 'files', dir } }))!;
  return {
    dir,
    store,
    close: async () => {
      await store.close();
      rmSync(dir, { recursive: true });
    },
  };
}
