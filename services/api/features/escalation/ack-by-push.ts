import { AppError } from '@tocsin/shared/domain/errors.ts';
import { ackPurpose, ackText, parseAckToken } from '@tocsin/shared/domain/escalation/ack-token.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import { isSignedText } from '@tocsin/shared/platform/secrets.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { auditAs } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { acknowledge } from '../../storing/acknowledge.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import { acknowledgementSchema, toAcknowledgementJson, type AcknowledgeRouteDeps } from './acknowledgement-json.ts';

/** `POST /ack/{token}`: the `ack` action of a push. */
export function ackByPush(deps: AcknowledgeRouteDeps): Route {
  return route({
    id: 'ackByPush',
    method: 'POST',
    path: '/ack/{token}',
    summary: 'Acknowledge a message from its push',
    description:
      'The `ack_url` of a push. Valid for one message and one device, while the message exists and the owner of the device ' +
      'can read it.',
    audience: 'unread',
    success: { status: 200, schema: acknowledgementSchema, description: 'The first acknowledgement' },
    errors: {
      404: 'The link is invalid or the message does not exist any more.',
      ...whenRestored,
    },
    load: (context) => loadByToken(deps, context),
    async handle(context, { loaded: { message, deviceId, owner } }) {
      const acknowledgement = await acknowledge(
        deps,
        message,
        { by: { kind: 'account', name: owner.username, accountId: owner.id }, note: null, deviceId },
        auditAs(deps, context, { actor: owner.id, through: 'push' }),
      );
      return { status: 200, body: toAcknowledgementJson(message.id, acknowledgement) };
    },
  });
}

/** Every fault is the same 404, so that a guess reveals nothing. */
async function loadByToken({ engine }: AcknowledgeRouteDeps, { params, now }: RequestContext) {
  const invalid = () => new AppError('not_found', 'The link is invalid or the message does not exist any more');
  const { documents, messages } = engine;
  const token = parseAckToken(params['token']!);
  if (token === null) throw invalid();
  const { messageId, deviceId, proof } = token;
  const escalation = await documents.get(escalations, messageId);
  if (escalation === null || !isSignedText([escalation.ackKey], ackPurpose, { text: ackText(token), proof }))
    throw invalid();
  const [message, device, topic] = await Promise.all([
    messages.find(messageId),
    documents.get(devices, deviceId),
    documents.get(topics, escalation.topicId),
  ]);
  if (message === null || message.isDeleted || message.expiresAt <= now) throw invalid();
  if (device === null || topic === null || !(await findReaders(documents, topic, [device.userId])).has(device.userId))
    throw invalid();
  const owner = await documents.get(users, device.userId);
  if (owner === null) throw invalid();
  return { message, deviceId, owner };
}
