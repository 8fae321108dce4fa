import { z } from 'zod';
import { alertLines, alertName, alertPriority, alertSchema, alertSequences, firingSeverities } from './alerts.ts';
import { labelled, renderedMessage, type RenderedMessage } from './rendered-message.ts';

/**
 * Prometheus Alertmanager's webhook, version 4:
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 */
export const alertmanagerSchema = z.object({
  status: z.enum(['firing', 'resolved']),
  receiver: z.string().nullish(),
  alerts: z.array(alertSchema).min(1, 'must hold an alert'),
  commonLabels: z.record(z.string(), z.string()).nullish(),
  truncatedAlerts: z.number().nullish(),
  groupKey: z.string().nullish(),
});

/** A group of alerts: firing or resolved. */
export function renderAlertmanager(group: z.output<typeof alertmanagerSchema>): RenderedMessage {
  const { status, alerts } = group;
  const isFiring = status === 'firing';
  const severities = firingSeverities(alerts);
  const name = group.commonLabels?.['alertname'] ?? alertName(alerts[0]!);
  const total = alerts.length + (group.truncatedAlerts ?? 0);
  return renderedMessage({
    title: `${isFiring ? '🚨 Alert' : '✅ Resolved'}: ${name}${total > 1 ? ` (${total} alerts)` : ''}`,
    text: [
      [`Status: ${isFiring ? 'Firing' : 'Resolved'}`, labelled('Receiver', group.receiver)],
      ...alerts.map((alert) => alertLines(alert, status)),
      [
        (group.truncatedAlerts ?? 0) > 0
          ? `${group.truncatedAlerts} more alerts were left out by Alertmanager`
          : undefined,
      ],
    ],
    priority: alertPriority(isFiring, severities),
    tags: ['alertmanager', status, ...severities],
    sequenceIds: alertSequences(group.groupKey, alerts),
    isResolved: !isFiring,
  });
}
