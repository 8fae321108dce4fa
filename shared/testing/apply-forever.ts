import { newId, published, testMessage } from '../contracts/messages/messages.fixtures.ts';
import type { Messages } from '../ports/messages/messages.ts';

/** Concurrent writers, so that the kill can interrupt a group commit. */
const writers = 8;

/**
 * Runs in the process that the test kills: prints the topic's ID, then applies messages until it dies, and prints the
 * offset of each acknowledged message.
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
