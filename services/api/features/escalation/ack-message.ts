import { actorOf } from '@tocsin/shared/domain/accounts/caller.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfCaller } from '../../audit.ts';
import { optionalField, textField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { acknowledge } from '../../storing/acknowledge.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import { acknowledgementSchema, toAcknowledgementJson, type AcknowledgeRouteDeps } from './acknowledgement-json.ts';
import { loadAcknowledgeable } from './load-acknowledgeable.ts';

const noteMax = 500;

const body = z
  .object({ note: optionalField(textField({ min: 0, max: noteMax })) })
  .meta({ examples: [{ note: 'On my way' }] });

/** `POST /api/messages/{message_id}/ack` */
export function ackMessage(deps: AcknowledgeRouteDeps & Pick<ApiDeps, 'directory'>): Route {
  return route({
    id: 'ackMessage',
    method: 'POST',
    path: '/api/messages/{message_id}/ack',
    summary: 'Acknowledge a message',
    description:
      'Allowed for everyone who can read the topic with an account or an API key, and for topic tokens that can publish. ' +
      'Repeats and steps end; open streams get `message_acknowledged`. A second call returns the first acknowledgement.',
    audience: 'anyone',
    scope: 'publish',
    body,
    success: { status: 200, schema: acknowledgementSchema, description: 'The first acknowledgement' },
    errors: {
      404: 'The message does not exist or the caller may not acknowledge it.',
      ...whenRestored,
    },
    load: (context) => loadAcknowledgeable(deps, context),
    async handle(context, { loaded, body: { note } }) {
      const by = { by: actorOf(context.caller), note: note?.trim() ? note : null, deviceId: null };
      const acknowledgement = await acknowledge(deps, loaded.message, by, auditOfCaller(deps, context));
      return { status: 200, body: toAcknowledgementJson(loaded.message.id, acknowledgement) };
    },
  });
}
