import { heldMessages } from '@tocsin/shared/operations/retention/held-messages.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { streamText } from '../../http/stream-text.ts';
import { ndjsonType } from '../../live/ndjson-sink.ts';

/** `GET /admin/topics/{name}/held`: the messages that only a legal hold keeps. 404 `Topic not found`. */
export function getHeldMessages(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'getHeldMessages',
    method: 'GET',
    path: '/admin/topics/{name}/held',
    summary: 'Download what a legal hold keeps of a topic',
    description:
      'The messages that expired or were deleted and that retention has not removed, by offset, each with its text. ' +
      'One message object per line. The audit log records each download. After the end of the hold, the next sweep ' +
      'removes expired messages.',
    audience: 'operator',
    success: {
      status: 200,
      schema: z.string(),
      contentType: ndjsonType,
      description: 'One message object per line',
    },
    errors: { 404: 'The topic does not exist.' },
    handle: async (context) => {
      const { topic, pages } = await heldMessages(deps.engine, context.params['name']!, {
        now: context.now,
        audit: auditOfOperator(deps, context),
      });
      const lines = async function* () {
        for await (const page of pages) yield page.map((line) => `${line}\n`).join('');
      };
      await streamText(context, lines(), {
        'Content-Type': ndjsonType,
        'Content-Disposition': `attachment; filename="${topic.name}-held.ndjson"`,
      });
      return null;
    },
  });
}
