import { AppError } from '@tocsin/shared/domain/errors.ts';
import { pushQueueOf, walkJob } from '@tocsin/shared/domain/push/push-job.ts';
import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { loadReadableMessage, type ReadableMessage } from './load-readable-message.ts';

/** What is asked for within the same slot of this length is asked for once. Harm prevented: the recipients of a large topic walked over and over. */
const demandMs = 10_000;

/** `POST /api/messages/{message_id}/renotify`: pushes a message to the devices that missed it. */
export function renotifyMessage(deps: ApiDeps): Route {
  return route({
    id: 'renotifyMessage',
    method: 'POST',
    path: '/api/messages/{message_id}/renotify',
    summary: 'Push a message again to the devices that missed it',
    description:
      'For the owner of the topic and the admins of its team. Reaches the devices of which the ledger says that they did not get it, as far as they and their ' +
      'subscriptions are older than the message; never one that it was sent to, or is being sent to. Repeating it is harmless, and within the same ten seconds of the clock it is one.',
    audience: 'account',
    scope: 'topics:write',
    errors: {
      400: 'The message is older than the ledger reaches back, which is 7 days.',
      404: 'There is no such message, or none that the caller may read.',
    },
    success: {
      status: 200,
      schema: z.object({ message: z.string(), message_id: z.uuid() }),
      description: 'The pushes are queued',
    },
    load: (context) => loadManaged(deps, context),
    async handle(context, { loaded: { message, topic } }) {
      const { now } = context;
      if (message.timestamp + ledgerMs <= now)
        throw new AppError('invalid', 'The message is older than 7 days: it is not known any more who missed it');
      const { id, topicId, timestamp, priority } = message;
      const job = walkJob(
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

async function loadManaged(deps: ApiDeps, context: RequestContext): Promise<ReadableMessage> {
  const loaded = await loadReadableMessage(deps, context);
  if (loaded.message.isDeleted) throw new AppError('not_found', 'Message not found');
  if (!loaded.isManager) throw new AppError('forbidden', 'Insufficient permissions to access this topic');
  return loaded;
}
