import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Holds are set by operators and few. */
const heldTopicsMax = 1_000;

/** Returns the topics under legal hold, which sweeps skip. Throws if there are more than a sweep can exclude. */
export async function heldTopicIds(documents: Documents): Promise<string[]> {
  const held = await documents.find(topics, { index: 'byHeld', equals: { isHeld: true }, limit: heldTopicsMax });
  if (held.length === heldTopicsMax)
    throw new Error(`more than ${heldTopicsMax} topics are under legal hold: no messages are removed`);
  return held.map(({ id }) => id);
}
