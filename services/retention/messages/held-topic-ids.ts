import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Holds are an operator's order, a handful at a time. */
const heldTopicsMax = 1_000;

/** The topics under legal hold, which sweeps leave alone. Throws when there are more than a sweep can leave out. */
export async function heldTopicIds(documents: Documents): Promise<string[]> {
  const held = await documents.find(topics, { index: 'byHeld', equals: { isHeld: true }, limit: heldTopicsMax });
  if (held.length === heldTopicsMax)
    throw new Error(`more than ${heldTopicsMax} topics are under legal hold: nothing expires`);
  return held.map(({ id }) => id);
}
