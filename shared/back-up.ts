import type { Config } from './platform/load-config.ts';
import type { CopyProgress, CopyReport } from './ports/backup.ts';

/**
 * Writes the installation's store to a file, also beside running servers. Throws a sentence for the operator, and leaves no file then.
 */
export async function backUp(config: Config, file: string, onProgress: (progress: CopyProgress) => void): Promise<CopyReport> {
  if (config.cluster !== undefined) throw new Error('the store of a cluster is MongoDB’s: docs/operations.md says how it is backed up');
  const { backUpEmbedded } = await import('./drivers/embedded/open-embedded.ts');
  return backUpEmbedded(config.DATA_DIR, file, onProgress);
}

/** Makes the installation's store, which must be empty and no server's, what the file holds. Throws a sentence for the operator. */
export async function restore(config: Config, file: string, onProgress: (progress: CopyProgress) => void): Promise<CopyReport> {
  if (config.cluster !== undefined) throw new Error('the store of a cluster is MongoDB’s: docs/operations.md says how it is restored');
  const { restoreEmbedded } = await import('./drivers/embedded/open-embedded.ts');
  return restoreEmbedded(config.DATA_DIR, file, onProgress);
}
