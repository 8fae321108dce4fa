import { topicChange } from '@tocsin/shared/domain/change.ts';
import { setHold as storeHold } from '@tocsin/shared/operations/retention/set-hold.ts';
import { holdSchema, toHoldJson } from '@tocsin/shared/wire/hold.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';

const forms = {
  PUT: {
    id: 'holdTopic',
    isHeld: true,
    summary: 'Put a topic under legal hold',
    description:
      "Until the release no message of the topic is removed, and the topic, its team and its owner's account cannot be deleted. Idempotent.",
  },
  DELETE: {
    id: 'releaseTopic',
    isHeld: false,
    summary: 'Release a topic from legal hold',
    description: 'The next sweep removes messages that expired during the hold. Idempotent.',
  },
} as const;

/** `PUT` and `DELETE /admin/topics/{name}/hold`. 404 `Topic not found`. */
export function setHold(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  method: keyof typeof forms,
): Route {
  const { isHeld, ...words } = forms[method];
  return route({
    ...words,
    method,
    path: '/admin/topics/{name}/hold',
    audience: 'operator',
    success: { status: 200, schema: holdSchema, description: 'The topic and whether it is held' },
    errors: { 404: 'The topic does not exist.' },
    handle: async (context) => {
      const topic = await storeHold(
        deps.engine.documents,
        context.params['name']!,
        isHeld,
        auditOfOperator(deps, context),
      );
      await deps.directory.changed(topicChange(topic));
      return { status: 200, body: toHoldJson(topic) };
    },
  });
}
