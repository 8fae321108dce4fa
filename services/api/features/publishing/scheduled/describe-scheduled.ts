import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { redacted, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { ScheduledMessage } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { toScheduledMessageJson, type ScheduledMessageJson } from '@tocsin/shared/wire/scheduled-message.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { messageView, roleOf } from '../../../http/load-topic.ts';

/**
 * Returns the JSON of scheduled messages, in their order. A delivered one is the message as it is in history, without
 * content if the caller may not read it there.
 */
export async function describeScheduled(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>,
  caller: AccountCaller,
  scheduled: readonly ScheduledMessage[],
): Promise<ScheduledMessageJson[]> {
  const delivered = scheduled.filter(({ state }) => state === 'delivered').map(({ id }) => id);
  const stored = delivered.length === 0 ? [] : await deps.engine.messages.findMany(delivered);
  const inHistory = new Map(stored.filter(({ expiresAt }) => expiresAt > deps.clock()).map((one) => [one.id, one]));
  return Promise.all(
    scheduled.map(async (one) => {
      const topic = await deps.directory.topic(one.topicId);
      const message = inHistory.get(one.id);
      const mayRead = topic !== null && mayUseTopic(caller, topic, 'read', await roleOf(deps.directory, caller, topic));
      return toScheduledMessageJson(one, {
        message: message === undefined || !mayRead ? one.message : shown(message),
        topicName: topic?.name ?? one.topicName,
        view: topic === null ? 'reader' : await messageView(deps.directory, caller, topic),
      });
    }),
  );
}

const shown = (message: StoredMessage): StoredMessage =>
  message.deletedAt === null ? message : redacted(message, message.deletedAt);
