import { createHash } from 'node:crypto';
import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import { isSequenceId } from '@tocsin/shared/domain/messages/sequence-id.ts';
import { z } from 'zod';
import { labelled } from './rendered-message.ts';

const texts = z.record(z.string(), z.string());

/**
 * An alert as Alertmanager and Grafana send it:
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 */
export const alertSchema = z.object({
  status: z.string().nullish(),
  labels: texts,
  annotations: texts.nullish(),
  startsAt: z.string().nullish(),
  endsAt: z.string().nullish(),
  generatorURL: z.string().nullish(),
  fingerprint: z.string().nullish(),
});

export type Alert = z.output<typeof alertSchema>;

/** The end time that a sender writes for an active alert. */
const noTime = '0001-01-01T00:00:00Z';

/** The lines of an alert, with its status if it differs from that of the group. */
export function alertLines(alert: Alert, statusOfAll: string): (string | undefined)[] {
  const { labels, annotations, status, startsAt, endsAt } = alert;
  return [
    labelled('Alert', alertName(alert)),
    status === statusOfAll ? undefined : labelled('Status', status),
    labelled('Instance', labels['instance']),
    labelled('Severity', labels['severity']),
    labelled('Summary', annotations?.['summary']),
    labelled('Description', annotations?.['description'] ?? annotations?.['message']),
    labelled('Starts at', startsAt === noTime ? null : startsAt),
    labelled('Ends at', endsAt === noTime ? null : endsAt),
    labelled('Source', alert.generatorURL),
  ];
}

/** The alert's name, or its labels if it has no name. */
export function alertName({ labels }: Pick<Alert, 'labels'>): string {
  return (
    labels['alertname'] ??
    Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
  );
}

/** Common values of the label `severity`; other values rank between them. */
const priorities: ReadonlyMap<string, Priority> = new Map([
  ['critical', 5],
  ['page', 5],
  ['emergency', 5],
  ['fatal', 5],
  ['disaster', 5],
  ['info', 3],
  ['informational', 3],
  ['none', 3],
  ['low', 3],
]);

/** The highest priority of the firing alerts; 3 if none fires. An alert without severity is a 4. */
export function alertPriority(isFiring: boolean, severities: readonly (string | undefined)[]): Priority {
  if (!isFiring) return 3;
  const found = severities.map((severity) => priorities.get(severity?.toLowerCase() ?? '') ?? 4);
  return found.length === 0 ? 4 : found.reduce((most, one) => (one > most ? one : most));
}

/** The severities of the firing alerts. */
export function firingSeverities(alerts: readonly Alert[]): string[] {
  return alerts.filter(({ status }) => status !== 'resolved').map(({ labels }) => labels['severity'] ?? '');
}

/**
 * Returns the sequences of a notification. One alert has the sequence of its fingerprint, several that of their group's
 * key or, without one, of the lowest fingerprint, so that the order of the alerts does not matter. The others follow:
 * alerts join and leave a group, and the notification continues their message.
 */
export function alertSequences(
  groupKey: string | null | undefined,
  alerts: readonly Pick<Alert, 'fingerprint'>[],
): string[] {
  const fingerprints = alerts.flatMap(({ fingerprint }) => (fingerprint ? [sequenceIdOf(fingerprint)] : [])).sort();
  const group = groupKey ? [hashed(groupKey)] : [];
  const ids = alerts.length === 1 ? [...fingerprints, ...group] : [...group, ...fingerprints];
  return [...new Set(ids)].slice(0, sequencesMax);
}

/** Beyond it, further alerts of a group have no sequence of their own. */
const sequencesMax = 100;

const sequenceIdOf = (fingerprint: string): string => (isSequenceId(fingerprint) ? fingerprint : hashed(fingerprint));
const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url');
