import { z } from 'zod';
import { alertLines, alertPriority, alertSchema, alertSequences, firingSeverities } from './alerts.ts';
import { renderedMessage, type RenderedMessage } from './rendered-message.ts';

/**
 * Grafana's webhook contact point:
 * https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 * Versions before 9 send only `state`.
 */
export const grafanaSchema = z
  .object({
    status: z.string().nullish(),
    state: z.string().nullish(),
    title: z.string().nullish(),
    message: z.string().nullish(),
    alerts: z.array(alertSchema).nullish(),
    groupKey: z.string().nullish(),
  })
  .refine(({ status, state }) => (status ?? state ?? '') !== '', { path: ['status'], error: 'is required' });

/** Maps `state` to `status`. */
const states: ReadonlyMap<string, string> = new Map([
  ['alerting', 'firing'],
  ['ok', 'resolved'],
]);

/** Renders a notification with Grafana's title and text, or with its alerts if they are absent. */
export function renderGrafana(notification: z.output<typeof grafanaSchema>): RenderedMessage {
  const { title, message } = notification;
  const word = (notification.status ?? notification.state ?? '').toLowerCase();
  const status = states.get(word) ?? word;
  const alerts = notification.alerts ?? [];
  const severities = firingSeverities(alerts);
  const [sign, untitled] =
    status === 'firing'
      ? ['🚨', 'Alert firing']
      : status === 'resolved'
        ? ['✅', 'Alert resolved']
        : ['⚠️', `Alert ${status}`];
  return renderedMessage({
    title: `${sign} ${title === undefined || title === null || title.trim() === '' ? untitled : title}`,
    text:
      message !== undefined && message !== null && message.trim() !== ''
        ? [[message.trim()]]
        : alerts.map((alert) => alertLines(alert, status)),
    priority: alertPriority(status === 'firing', severities),
    tags: ['grafana', status, ...severities],
    sequenceIds: alertSequences(notification.groupKey, alerts),
    isResolved: status === 'resolved',
  });
}
