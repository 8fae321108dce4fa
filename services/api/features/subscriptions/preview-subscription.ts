import { allMessagesOf } from '@tocsin/shared/domain/messages/message-filter.ts';
import { pushedMessages } from '@tocsin/shared/domain/push/push-filter.ts';
import type { MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { ActivityCount } from '@tocsin/shared/ports/messages/message-search.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadSubscription } from './load-subscription.ts';
import { previewPushes, type PreviewDay } from './preview-pushes.ts';
import { changedSubscriptionFields, settingsOf } from '../../access/subscription-fields.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
const daysBack = 30;

const { mobile_notifications_enabled, mobile_notification_settings } = changedSubscriptionFields;

const counts = { messages: z.int(), would_push: z.int(), quiet: z.int(), collapsed: z.int(), digest: z.int() };
const daySchema = z
  .object({
    timestamp: z.iso.datetime(),
    ...counts,
    priority_1: z.int(),
    priority_2: z.int(),
    priority_3: z.int(),
    priority_4: z.int(),
    priority_5: z.int(),
  })
  .meta({ id: 'PreviewDay' });

/** `POST /api/subscriptions/{subscription_id}/preview`: the pushes of other settings. */
export function previewSubscription(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'previewSubscription',
    method: 'POST',
    path: '/api/subscriptions/{subscription_id}/preview',
    summary: 'Preview the pushes of other settings for the last 30 days',
    description:
      'Omitted settings are those of the subscription, which is not changed. Counts the messages that are still stored.',
    audience: 'account',
    scope: 'account:write',
    body: z.object({ mobile_notifications_enabled, mobile_notification_settings }),
    success: {
      status: 200,
      schema: z.object({
        start_date: z.iso.datetime(),
        end_date: z.iso.datetime(),
        ...counts,
        days: z.array(daySchema),
      }),
      description:
        'By day in UTC, oldest first; the first and last day are partial. `would_push` is also split by priority; `quiet` counts messages in quiet hours, ' +
        '`collapsed` those beyond `max_per_minute` (per clock minute), `digest` those collected for a digest, and the filter excluded the rest of `messages`',
    },
    load: (context) => loadSubscription(deps, context),
    async handle(context, { loaded: { subscription, topic }, body }) {
      const settings = { ...subscription, ...settingsOf(body) };
      const span = { from: context.now - daysBack * dayMs, to: context.now };
      const [all, passing] = await countMessages(deps, { topicId: topic.id, settings, ...span });
      const days = previewPushes(settings, { ...span, all, passing });
      const sum = (of: (day: PreviewDay) => number) => days.reduce((total, day) => total + of(day), 0);
      return {
        status: 200,
        body: {
          start_date: toIso(span.from),
          end_date: toIso(span.to),
          messages: sum((day) => day.messages),
          would_push: sum((day) => day.wouldPush),
          quiet: sum((day) => day.quiet),
          collapsed: sum((day) => day.collapsed),
          digest: sum((day) => day.digest),
          days: days.map(toDayJson),
        },
      };
    },
  });
}

/** Counts all messages by day, and those that the filter accepts, by minute if needed. */
async function countMessages(
  deps: Pick<ApiDeps, 'engine'>,
  { topicId, settings, from, to }: { topicId: string; settings: MobileSettings; from: number; to: number },
): Promise<[ActivityCount[], ActivityCount[]]> {
  const { quietHours, maxPerMinute } = settings;
  const span = { from, to, now: to };
  const passing = settings.mobileEnabled ? pushedMessages(topicId, settings, span) : null;
  const isByMinute = quietHours !== null || maxPerMinute !== null;
  return Promise.all([
    deps.engine.messages.activity(allMessagesOf([topicId], span), dayMs),
    passing === null ? [] : deps.engine.messages.activity(passing, isByMinute ? minuteMs : dayMs),
  ]);
}

function toDayJson({
  start,
  messages,
  wouldPush,
  quiet,
  collapsed,
  digest,
  byPriority: [one, two, three, four, five],
}: PreviewDay) {
  return {
    timestamp: toIso(start),
    messages,
    would_push: wouldPush,
    quiet,
    collapsed,
    digest,
    priority_1: one,
    priority_2: two,
    priority_3: three,
    priority_4: four,
    priority_5: five,
  };
}
