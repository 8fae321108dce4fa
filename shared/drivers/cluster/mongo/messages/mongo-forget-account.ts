import { forgetActor } from '../../../../domain/messages/actor.ts';
import { forgetExtras } from '../../../../domain/messages/message-extras.ts';
import type { MessageCollections } from './mongo-message-collections.ts';

/** Documents per write. */
const batchSize = 500;

/** Implements the port's `forgetAccount` by a scan of the collection; there is no index. */
export async function forgetAccount({ messages }: MessageCollections, accountId: string): Promise<void> {
  // An account ID is a UUID, so it has no characters that a pattern interprets.
  const contains = { $regex: accountId };
  for (let after = ''; ;) {
    const found = await messages
      .find(
        { _id: { $gt: after }, $or: [{ publishedBy: contains }, { extras: contains }] },
        { projection: { publishedBy: 1, extras: 1 }, sort: { _id: 1 }, limit: batchSize, batchSize: batchSize + 1 },
      )
      .toArray();
    if (found.length === 0) return;
    await messages.bulkWrite(
      found.map(({ _id, publishedBy = null, extras = null }) => ({
        updateOne: {
          // A concurrent change wins; a later run finds it.
          filter: { _id, extras },
          update: {
            $set: { publishedBy: forgetActor(publishedBy, accountId), extras: forgetExtras(extras, accountId) },
          },
        },
      })),
    );
    after = found.at(-1)!._id;
  }
}
