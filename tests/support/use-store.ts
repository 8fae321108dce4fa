import { afterAll, beforeAll } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { openStackDocuments } from './stack.ts';

/** Opens the documents of the shared stack for tests that need the inside of its engine. Closes them after the file. */
export function useStore(): { documents(): Documents } {
  let store: OperatorStore;
  beforeAll(async () => {
    store = await openStackDocuments();
  });
  afterAll(() => store.close());
  return { documents: () => store.documents };
}
