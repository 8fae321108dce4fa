import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { endOf, type ScheduledMessage } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf } from '../../../audit.ts';
import { pathId, roleOf } from '../../../http/load-topic.ts';
import { requireAccount, requireScopes, route, type Route } from '../../../http/route.ts';

const notFound = () => new AppError('not_found', 'Message not found');

/** `DELETE /api/messages/scheduled/{scheduled_id}`: cancels a message that waits for its time. */
export function cancelScheduled(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  const { documents } = deps.engine;
  return route({
    id: 'cancelScheduledMessage',
    method: 'DELETE',
    path: '/api/messages/scheduled/{scheduled_id}',
    summary: 'Cancel a scheduled message',
    description:
      "The caller's own message, or one of a topic that the caller manages (an API key then also needs `topics:write`).",
    audience: 'account',
    scope: 'publish',
    success: { status: 204, schema: null, description: 'The message is not published' },
    errors: { 409: 'The message was already delivered or dropped.' },
    async load(context) {
      const account = requireAccount(context.caller);
      const id = pathId(context, 'scheduled_id');
      const found = await documents.get(scheduledMessages, id);
      if (found === null) throw notFound();
      await requireRight(deps, account, found);
      return id;
    },
    async handle(context, { loaded: id }) {
      const audit = auditOf(deps, context);
      await retryStale(async () => {
        const scheduled = await documents.get(scheduledMessages, id);
        if (scheduled === null) throw notFound();
        if (scheduled.state === 'cancelled') return;
        if (scheduled.state === 'dropped') throw new AppError('conflict', 'Message was already dropped');
        // A node that claimed it may have appended it.
        if (scheduled.state === 'delivered' || scheduled.attemptExpiresAt !== null)
          throw new AppError('conflict', 'Message was already delivered');
        const within = { type: 'topic', id: scheduled.topicId } as const;
        await documents.commit([
          write.update(scheduledMessages, scheduled, endOf(scheduled, { state: 'cancelled' }, deps.clock())),
          ...audit({ action: 'message.cancelled', subject: { id }, within, details: {} }),
        ]);
      });
      return { status: 204 };
    },
  });
}

/** Throws 404 for a message that the account may not see, and 403 without the scope for messages of others. */
async function requireRight(
  { directory }: Pick<ApiDeps, 'directory'>,
  caller: AccountCaller,
  { publisher, topicId }: ScheduledMessage,
): Promise<void> {
  if (publisher.kind === 'account' && publisher.userId === caller.userId) return;
  const topic = await directory.topic(topicId);
  if (topic === null || !mayUseTopic(caller, topic, 'manage', await roleOf(directory, caller, topic))) throw notFound();
  requireScopes(caller, ['topics:write']);
}
