import { afterAll } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { ClusterLayout, Stack } from '../../tools/stack/start-stack.ts';
import { startOwnStack } from './own-stack.ts';
import { openStackDocuments } from './stack.ts';

/**
 * Starts a stack for the tests of a file and opens its documents; both close after the tests. `env` is its
 * configuration.
 */
export function useOwnStack(
  env: Record<string, string> = {},
  layout?: ClusterLayout,
): Promise<{ stack: Stack; store: OperatorStore }> {
  return withClosers(async (own) => {
    const stack = await startOwnStack(env, layout);
    own.add(() => stack.stop());
    const store = await openStackDocuments(stack);
    own.add(() => store.close());
    afterAll(() => own.closeAll(), 60_000);
    return { stack, store };
  });
}
