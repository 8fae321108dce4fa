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
      "Until it is released nothing of the topic is removed, and neither it nor its team nor its owner's account can be deleted. Repeating it changes nothing.",
  },
  DELETE: {
    id: 'releaseTopic',
    isHeld: false,
    summary: "End a topic's legal hold",
    description: 'What has outlived its time meanwhile goes with the next sweep. Repeating it changes nothing.',
  },
} as const;

/** `PUT` and `DELETE /admin/topics/{name}/hold`. 404 `Topic not found`. */
export function setHold(deps: ApiDeps, method: keyof typeof forms): Route {
  const { isHeld, ...words } = forms[method];
  return route({
    ...words,
    method,
    path: '/admin/topics/{name}/hold',
    audience: 'operator',
    success: { status: 200, schema: holdSchema, description: 'The topic, and whether it is held now' },
    errors: { 404: 'There is no topic with the name.' },
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
