import { scheduledMessageSchema } from '@tocsin/shared/wire/scheduled-message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../../api-deps.ts';
import { openTopicByName } from '../../../http/load-topic.ts';
import { pageHeaders, pageOf, pagingFields } from '../../../http/paging.ts';
import { route, type Route } from '../../../http/route.ts';
import { describeScheduled } from './describe-scheduled.ts';
import { findScheduled } from './find-scheduled.ts';

/** `GET /api/messages/scheduled`: waiting messages, and for 7 days those that ended. */
export function listScheduled(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>): Route {
  return route({
    id: 'listScheduledMessages',
    method: 'GET',
    path: '/api/messages/scheduled',
    summary: 'List scheduled messages',
    description:
      "The caller's own messages and those of topics that the caller manages: waiting ones, and for 7 days those that were delivered, cancelled or dropped. Messages that were cancelled or dropped have no content.",
    audience: 'account',
    scope: 'subscribe',
    query: z.object({
      topic: z.string().optional().describe('The name of a topic, case-insensitive: only its messages.'),
      ...pagingFields({ default: 50, max: 100 }),
    }),
    success: {
      status: 200,
      schema: z.array(scheduledMessageSchema),
      description: 'The messages by their time, the latest first',
    },
    errors: { 404: 'The named topic does not exist.' },
    async load({ caller, searchParams }) {
      const [name = '', ...others] = searchParams.getAll('topic');
      // The validation of parameters refuses repeated values.
      if (name.trim() === '' || others.length > 0) return null;
      return openTopicByName(deps.directory, caller, { name, act: 'read' });
    },
    async handle(context, { loaded: topic, query }) {
      const page = pageOf(query);
      const { found, total } = await findScheduled(deps, context.account(), { topic, page });
      const body = await describeScheduled(deps, context.account(), found);
      return { status: 200, headers: pageHeaders(page, total), body };
    },
  });
}
