import { topicChange } from '@tocsin/shared/domain/change.ts';
import { topicSchema, toTopicJson } from '@tocsin/shared/wire/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { optionalField, uuidField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { storeTopic } from './store-topic.ts';
import { topicFields } from './topic-fields.ts';
import { noMessages } from './describe-topics.ts';

const body = z
  .object({
    name: topicFields.name,
    access_level: optionalField(topicFields.accessLevel),
    description: optionalField(topicFields.description),
    is_discoverable: optionalField(topicFields.isDiscoverable),
    icon_name: optionalField(topicFields.iconName),
    icon_color: optionalField(topicFields.iconColor),
    retention_days: optionalField(topicFields.retentionDays).describe(
      "In days, at most those of the tier of the topic's owner, which are also the default.",
    ),
    archive: optionalField(topicFields.archive).describe(
      'Whether expired messages are archived before they are removed, by default as the operator set it.',
    ),
    team_id: optionalField(uuidField),
  })
  .meta({
    examples: [
      {
        name: 'backups',
        access_level: 'public',
        description: 'Output of the nightly backup',
        is_discoverable: true,
        icon_name: 'database',
      },
    ],
  });

/** `POST /api/topics` */
export function createTopic(deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'createTopic',
    method: 'POST',
    path: '/api/topics',
    summary: 'Create a topic',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: {
      status: 201,
      schema: topicSchema.extend({ subscription_warning: z.string().nullable() }),
      description: 'The topic and a warning about the tier, if any',
    },
    errors: { 404: 'The team does not exist.', 409: 'The name is taken.' },
    async handle(context, { body: fields }) {
      const { topic, warning } = await storeTopic(deps, context.account(), {
        name: fields.name,
        teamId: fields.team_id ?? null,
        accessLevel: fields.access_level ?? 'public',
        description: fields.description ?? '',
        isDiscoverable: fields.is_discoverable ?? false,
        iconName: fields.icon_name ?? null,
        iconColor: fields.icon_color ?? null,
        retentionDays: fields.retention_days ?? null,
        archive: fields.archive ?? null,
      });
      await deps.directory.changed(topicChange(topic));
      const json = toTopicJson(topic, {
        stats: noMessages,
        canManage: true,
        archiveDefault: deps.config.ARCHIVE_DEFAULT,
      });
      return { status: 201, body: { ...json, subscription_warning: warning } };
    },
  });
}
