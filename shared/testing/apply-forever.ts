import { newId, published, testMessage } from '../contracts/messages/messages.fixtures.ts';
import type { Messages } from '../ports/messages.ts';

/** Applied by several at once, so that the kill falls between writes that share a commit. */
const writers = 8;

/**
 * Runs in the process to be killed: prints the topic's id, then applies messages for as long as it lives, and prints the
 * position of each that resolved.
 */
export async function applyForever(messages: Messages): Promise<never> {
  const topicId = newId();
  process.stdout.write(`${topicId}\n`);
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let offset = writer; ; offset += writers) {
        await messages.apply([published(offset, testMessage(topicId, { expiresAt: Number.MAX_SAFE_INTEGER }))]);
        process.stdout.write(`${offset}\n`);
      }
    }),
  );
  throw new Error('the writers ended');
}
