import {
  listRuns,
  readRetentionState,
  retentionRuns,
  retentionStates,
} from '@tocsin/shared/collections/retention-runs.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** Removes what earlier tests left: messages that expired before `now`, runs, and the state of retention. */
export async function forgetRuns(
  { documents, messages }: Pick<Engine, 'documents' | 'messages'>,
  now: number,
): Promise<void> {
  while ((await messages.removeExpired(now, 10_000)).size > 0);
  for (const run of await listRuns(documents, 1_000)) await documents.remove(retentionRuns, run.id);
  await documents.remove(retentionStates, (await readRetentionState(documents)).id);
}
