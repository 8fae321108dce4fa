import type { MessageVolume } from '@tocsin/shared/domain/messages/message-volume.ts';
import { redacted, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { noneArchived, type RetentionRun } from '@tocsin/shared/domain/retention/retention-run.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { protectedMs } from '@tocsin/shared/domain/retention/protection.ts';
import { archiveMessages } from '@tocsin/shared/operations/archive/archive-messages.ts';
import { removeArchivedObject } from '@tocsin/shared/operations/archive/remove-archive.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import type { MessageState } from '@tocsin/shared/ports/messages/message-retention.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { RetentionDeps, SweepLimit } from '../sweep/retention-deps.ts';
import { heldTopicIds } from './held-topic-ids.ts';
import { protectedTopicIds } from './protected-topic-ids.ts';
import { removedPerBatch, type RemovalStep } from './removal-step.ts';

/** Messages per read. */
const pageSize = 500;
const nothingGone: ReadonlyMap<string, MessageVolume> = new Map();

/** The archive did not confirm an object; its messages are not removed. */
export class ArchiveFailed extends Error {}

interface DueOfTopic {
  readonly topicId: string;
  /** At most so many messages expired at or before the time. */
  readonly count: number;
  readonly time: number;
}

export interface ArchivingRun {
  readonly run: RetentionRun;
  readonly limit: SweepLimit;
  readonly archive: ArchiveStore;
}

/**
 * Removes the messages of a run topic by topic. Those of topics with an archive are removed after the archive has
 * confirmed an object with exactly these messages: a message that changed since it was read is archived again. Other
 * topics come first, so that they do not wait for the archive. Throws ArchiveFailed.
 */
export async function* archiveExpired(deps: RetentionDeps, at: ArchivingRun): AsyncGenerator<RemovalStep, void> {
  const { documents, messages } = deps.engine;
  const kept = await protectedTopicIds(deps, at.run.upTo);
  for (let removed = 1; removed > 0;) {
    removed = 0;
    const due = await messages.expired(at.run.upTo, await heldTopicIds(documents));
    for (const isArchiving of [false, true])
      for (const { topicId, messages: count } of due) {
        const ofTopic = { topicId, count, time: at.run.upTo - (kept.has(topicId) ? protectedMs : 0) };
        const topic = await documents.get(topics, topicId);
        // A deleted topic's clean-up removes its messages and its archive.
        const isArchived = topic !== null && (topic.archive ?? deps.config.ARCHIVE_DEFAULT);
        if (isArchived !== isArchiving || topic?.isHeld === true) continue;
        const steps = isArchived ? archiveTopic(deps, at, { topic, ofTopic }) : removeOfTopic(deps, ofTopic);
        for await (const step of steps) {
          for (const volume of step.gone.values()) removed += volume.messages;
          yield step;
        }
      }
  }
}

async function* removeOfTopic(deps: RetentionDeps, ofTopic: DueOfTopic): AsyncGenerator<RemovalStep, void> {
  for await (const page of pagesOf(deps, ofTopic, removedPerBatch)) {
    if ((await deps.engine.documents.get(topics, ofTopic.topicId))?.isHeld === true) return;
    yield remove(deps, ofTopic, { states: page.map(({ state }) => state), hasConfirmed: false });
  }
}

async function* archiveTopic(
  deps: RetentionDeps,
  at: ArchivingRun,
  { topic, ofTopic }: { topic: Topic; ofTopic: DueOfTopic },
): AsyncGenerator<RemovalStep, void> {
  const topicId = topic.id;
  const read = readForArchive(deps, at, ofTopic);
  const manifests = archiveMessages(
    { put: (key, body) => at.archive.put(key, body).catch(read.rethrow) },
    // A key is never used twice: another worker or a later attempt must not replace an object of removed messages.
    { topic, runId: `${at.run.id}-${deps.makeId()}`, now: deps.clock() },
    read.messages(),
  );
  for await (const manifest of manifests) {
    const states = read.states.splice(0, manifest.messages);
    yield { gone: nothingGone, archived: { messages: states.length, objects: 1 }, hasConfirmed: true };
    if ((await deps.engine.documents.get(topics, topicId)) === null) {
      // The erasure of the topic may have listed the objects before this one existed.
      await removeArchivedObject(at.archive, manifest.object);
      return;
    }
    for (let from = 0; from < states.length; from += removedPerBatch) {
      const isHeld = (await deps.engine.documents.get(topics, topicId))?.isHeld ?? true;
      if (isHeld) return;
      const batch = states.slice(from, from + removedPerBatch);
      yield remove(deps, ofTopic, { states: batch, hasConfirmed: from + removedPerBatch < states.length });
    }
  }
  // Changes without a message, which are not archived, if nothing else expired.
  if (read.count() === 0) yield remove(deps, ofTopic, { states: [], hasConfirmed: false });
}

/** Reads a topic's messages, and collects the state of each that was read and not yet removed. */
function readForArchive(deps: RetentionDeps, { limit }: ArchivingRun, ofTopic: DueOfTopic) {
  const states: MessageState[] = [];
  let count = 0;
  let failure: unknown;
  return {
    states,
    count: () => count,
    async *messages(): AsyncGenerator<StoredMessage, void> {
      try {
        for await (const page of pagesOf(deps, ofTopic, pageSize)) {
          limit.closing.throwIfAborted();
          for (const { message, state } of page) {
            states.push(state);
            count += 1;
            // What a user deleted is not archived, although its content is stored for some days.
            yield message.deletedAt === null ? message : redacted(message, message.deletedAt);
          }
        }
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    /** Throws the error of the read if it failed, otherwise an error of the archive. */
    rethrow(error: unknown): never {
      throw failure ?? new ArchiveFailed('the archive did not confirm an object', { cause: error });
    },
  };
}

/** Yields the topic's expired messages by offset. Does not read on to the topic's end after the counted ones. */
async function* pagesOf({ engine: { messages } }: RetentionDeps, { topicId, count, time }: DueOfTopic, size: number) {
  let after = -1;
  for (let left = count; left > 0;) {
    const limit = Math.min(size, left);
    const page = await messages.expiredOf(topicId, { after, time, limit });
    yield page;
    if (page.length < limit) return;
    after = page.at(-1)!.message.offset;
    left -= page.length;
  }
}

async function remove(
  { engine: { messages } }: RetentionDeps,
  { topicId, time }: DueOfTopic,
  { states, hasConfirmed }: { states: readonly MessageState[]; hasConfirmed: boolean },
): Promise<RemovalStep> {
  const volume = await messages.removeInState(topicId, { time, states });
  return { gone: new Map(volume.messages === 0 ? [] : [[topicId, volume]]), archived: noneArchived, hasConfirmed };
}
