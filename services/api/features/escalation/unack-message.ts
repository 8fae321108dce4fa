import type { ApiDeps } from '../../api-deps.ts';
import { auditOfCaller } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { withdraw } from '../../storing/acknowledge.ts';
import { whenRestored } from '../../storing/when-restored.ts';
import type { AcknowledgeRouteDeps } from './acknowledgement-json.ts';
import { loadAcknowledgeable } from './load-acknowledgeable.ts';

/** `DELETE /api/messages/{message_id}/ack` */
export function unackMessage(deps: AcknowledgeRouteDeps & Pick<ApiDeps, 'directory'>): Route {
  return route({
    id: 'unackMessage',
    method: 'DELETE',
    path: '/api/messages/{message_id}/ack',
    summary: 'Withdraw the acknowledgement of a message',
    description:
      'Allowed for everyone who can acknowledge it. The escalation starts again; open streams get `message_unacknowledged`. ' +
      'Does nothing if the message is not acknowledged.',
    audience: 'anyone',
    scope: 'publish',
    success: { status: 204, schema: null, description: 'The message is not acknowledged' },
    errors: {
      404: 'The message does not exist or the caller may not acknowledge it.',
      ...whenRestored,
    },
    load: (context) => loadAcknowledgeable(deps, context),
    async handle(context, { loaded }) {
      await withdraw(deps, loaded, auditOfCaller(deps, context));
      return { status: 204 };
    },
  });
}
