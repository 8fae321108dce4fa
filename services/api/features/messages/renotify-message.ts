import { AppError } from '@tocsin/shared/domain/errors.ts';
import { requireOriginal } from '@tocsin/shared/domain/messages/message.ts';
import { pushQueueOf, pageJob } from '@tocsin/shared/domain/push/push-job.ts';
import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import { loadReadableMessage, type ReadableMessage } from './load-readable-message.ts';

/**
 * Requests within the same slot of this length count once, so that the recipients of a large topic are not processed
 * repeatedly.
 */
const demandMs = 10_000;

/** `POST /api/messages/{message_id}/renotify`: pushes a message to the devices that missed it. */
export function renotifyMessage(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'renotifyMessage',
    method: 'POST',
    path: '/api/messages/{message_id}/renotify',
    summary: 'Push a message again to devices that missed it',
    description:
      'Allowed for the owner of the topic and the admins of its team. Reaches devices that did not get the message according to the ledger, if they and their ' +
      'subscriptions are older than the message. Devices with a sent or pending push are excluded. Requests within the same ten seconds count once.',
    audience: 'account',
    scope: 'topics:write',
    errors: {
      400: 'The message is older than the 7 days of the ledger.',
      404: 'The message does not exist or the caller may not read it.',
      ...whenRestored,
    },
    success: {
      status: 200,
      schema: z.object({ message: z.string(), message_id: z.uuid() }),
      description: 'The pushes are queued',
    },
    load: (context) => loadManaged(deps, context),
    async handle(context, { loaded: { message, topic } }) {
      const { now } = context;
      requireOriginal(message);
      if (message.timestamp + ledgerMs <= now)
        throw new AppError(
          'invalid',
          'The message is older than 7 days: the ledger no longer knows which devices missed it',
        );
      const { id, topicId, timestamp, priority } = message;
      const job = pageJob(
        { messageId: id, topicId, after: null, publishedAt: timestamp, renotify: `at-${Math.floor(now / demandMs)}` },
        priority,
      );
      const details = { message_id: id, from: null, to: null };
      await deps.engine.documents.commit(
        auditOf(deps, context)({ action: 'push.renotified', subject: { id: topicId, name: topic.name }, details }),
      );
      await deps.engine.jobQueue.add(pushQueueOf(priority), [job]);
      return { status: 200, body: { message: 'Renotification queued', message_id: id } };
    },
  });
}

async function loadManaged(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  context: RequestContext,
): Promise<ReadableMessage> {
  const loaded = await loadReadableMessage(deps, context);
  if (loaded.message.isDeleted) throw new AppError('not_found', 'Message not found');
  if (!loaded.isManager) throw new AppError('forbidden', 'Insufficient permissions to access this topic');
  return loaded;
}
