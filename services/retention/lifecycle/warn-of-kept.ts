import type { ErasureReport } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

/** Tells the operator about objects that an erasure could not remove or rewrite. */
export function warnOfKept(
  { log }: Pick<RetentionDeps, 'log'>,
  { keptObjects }: ErasureReport,
  erased: { readonly topicId: string } | { readonly userId: string },
): void {
  if (keptObjects === 0) return;
  log.warn(
    { ...erased, keptObjects },
    'the erasure left objects of the archive, which are locked or damaged: remove them when the lock ends',
  );
}
