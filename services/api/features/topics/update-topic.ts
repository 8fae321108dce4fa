import { topicChange } from '@tocsin/shared/domain/change.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { retentionDaysOf, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import { topicNameKey, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { write, type Changes, type Documents, type New, type Write } from '@tocsin/shared/ports/documents.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { retainMessages } from '@tocsin/shared/operations/topics/retain-messages.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { newTopicCleanup, topicCleanups, type TopicCleanup } from '@tocsin/shared/collections/topic-cleanups.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { updateWith } from '@tocsin/shared/documents/update-with.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { topicSchema } from '@tocsin/shared/wire/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { cleanUpSoon } from '../../erasure/clean-up-soon.ts';
import { loadManagedTopic, roleOf } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { describeTopics } from './describe-topics.ts';
import { refuseTakenName } from './refuse-taken-name.ts';
import { isListed, requireDescribed, requireWithinTier, topicFields } from './topic-fields.ts';
import { requireRoomForPrivateTopic } from './topic-quota.ts';

/** The number of message batches for which a request waits: some thousand messages. */
const retainBatchesMax = 20;

const body = z.object({
  name: topicFields.name.optional(),
  access_level: topicFields.accessLevel.optional(),
  description: topicFields.description.optional(),
  is_discoverable: topicFields.isDiscoverable.optional(),
  icon_name: topicFields.iconName.nullable().optional(),
  icon_color: topicFields.iconColor.nullable().optional(),
  retention_days: topicFields.retentionDays
    .nullable()
    .optional()
    .describe(
      "Also applies to stored messages. Null means the retention of the owner's tier. Expired messages stay expired.",
    ),
  archive: topicFields.archive.optional(),
});

/** `PATCH /api/topics/{topic_id}` */
export function updateTopic(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'updateTopic',
    method: 'PATCH',
    path: '/api/topics/{topic_id}',
    summary: 'Change a topic',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: { status: 200, schema: topicSchema, description: 'The topic' },
    errors: { 409: 'The name is taken.' },
    load: loadManagedTopic(deps.directory),
    async handle(context, { loaded, body: fields }) {
      const { before, after, retention } = await change(deps, loaded, { fields, audit: auditOf(deps, context) });
      await deps.directory.changed(topicChange(before), topicChange(after));
      if (before.accessLevel === 'public' && after.accessLevel === 'private') {
        await cleanUpSoon(deps, [{ topicId: after.id, kind: 'prune' }]);
      }
      if (retention !== null) await applyRetention(deps, retention);
      const role = await roleOf(deps.directory, context.caller, after);
      const roles = new Map(role === null || after.teamId === null ? [] : [[after.teamId, role]]);
      const [json] = await describeTopics(deps, context.caller, { topics: [after], roles });
      return { status: 200, body: json };
    },
  });
}

interface Changed {
  readonly before: Topic;
  readonly after: Topic;
  /** The remaining update of stored messages after a change of retention. */
  readonly retention: New<TopicCleanup> | null;
}

interface Wish {
  readonly fields: z.output<typeof body>;
  readonly audit: Audit;
}

/** The audit log records changes of access, retention and archiving. */
function record({ audit }: Wish, { before, after }: Pick<Changed, 'before' | 'after'>): Write[] {
  const subject = { id: after.id, name: after.name };
  const ofAccess =
    before.accessLevel === after.accessLevel
      ? []
      : audit({
          action: 'topic.access_changed',
          subject,
          details: { access_level: after.accessLevel, former_access_level: before.accessLevel },
        });
  const ofRetention =
    before.retentionDays === after.retentionDays
      ? []
      : audit({
          action: 'topic.retention_changed',
          subject,
          details: { retention_days: after.retentionDays, former_retention_days: before.retentionDays },
        });
  const ofArchive =
    after.archive === null || before.archive === after.archive
      ? []
      : audit({ action: 'topic.archive_changed', subject, details: { archive: after.archive } });
  return [...ofAccess, ...ofRetention, ...ofArchive];
}

/** Stores the change of the current topic. Throws 404, 422, 403 beyond the limit of private topics, and 409. */
async function change(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'makeId'>,
  loaded: Topic,
  wish: Wish,
): Promise<Changed> {
  const { documents } = deps.engine;
  const { fields } = wish;
  const changing =
    fields.access_level === 'private'
      ? close(deps, loaded, wish)
      : retryStale(async () => {
          const before = await findTopic(documents, loaded.id);
          const set = changesOf(before, fields);
          if (Object.keys(set).length === 0) return { before, after: before, retention: null };
          const retention = await changeRetention(deps, before, set);
          const otherWrites = [...record(wish, { before, after: { ...before, ...set } }), ...retention.writes];
          return {
            before,
            after: await updateWith(documents, topics, before, { set, otherWrites }),
            retention: retention.cleanup,
          };
        });
  return changing.catch(refuseTakenName);
}

/** Makes the topic private if the owner's tier allows it. Users without access lose their subscriptions. */
function close(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'makeId'>,
  { id, ownerId }: Topic,
  wish: Wish,
): Promise<Changed> {
  const { documents } = deps.engine;
  return commitWithinQuota(documents, ownerId, async () => {
    const before = await findTopic(documents, id);
    const set = changesOf(before, wish.fields);
    const retention = await changeRetention(deps, before, set);
    const result = { before, after: { ...before, ...set, version: before.version + 1 }, retention: retention.cleanup };
    const writes = [write.update(topics, before, set), ...record(wish, result), ...retention.writes];
    if (before.accessLevel === 'private') return { writes, result };
    const owner = await documents.get(users, before.ownerId);
    if (owner === null) throw topicNotFound();
    await requireRoomForPrivateTopic(documents, owner, deps.clock());
    const cleanup = newTopicCleanup({ id: deps.makeId(), topicId: id, kind: 'prune', requestedAt: deps.clock() });
    return { writes: [write.require(users, owner), ...writes, write.insert(topicCleanups, cleanup)], result };
  });
}

/** Returns the writes of a retention change, empty without change. Throws 422 if the owner's tier does not allow it. */
async function changeRetention(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'makeId'>,
  before: Topic,
  set: Changes<Topic>,
): Promise<{ writes: Write[]; cleanup: New<TopicCleanup> | null }> {
  if (set.retentionDays === undefined || set.retentionDays === before.retentionDays)
    return { writes: [], cleanup: null };
  const owner = await deps.engine.documents.get(users, before.ownerId);
  if (owner === null) throw topicNotFound();
  const now = deps.clock();
  requireWithinTier(set.retentionDays, retentionDaysOf(deps.config), tierInForce(owner, now));
  const cleanup = newTopicCleanup({ id: deps.makeId(), topicId: before.id, kind: 'retain', requestedAt: now });
  return { writes: [write.insert(topicCleanups, cleanup)], cleanup };
}

/** Updates the first stored messages before the response and leaves the rest to a job. */
async function applyRetention(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>,
  cleanup: New<TopicCleanup>,
): Promise<void> {
  const { documents, messages } = deps.engine;
  const at = {
    now: deps.clock(),
    hasSettled: false,
    batchesMax: retainBatchesMax,
    retentionDays: retentionDaysOf(deps.config),
  };
  try {
    await retainMessages({ documents, messages }, { ...cleanup, version: 1 }, at);
  } catch (error) {
    deps.log.warn({ err: error, topicId: cleanup.topicId }, 'deferring the new expiry of stored messages');
  }
  await cleanUpSoon(deps, [cleanup]);
}

const topicNotFound = () => new AppError('not_found', 'Topic not found');

async function findTopic(documents: Documents, id: string): Promise<Topic> {
  const topic = await documents.get(topics, id);
  if (topic === null) throw topicNotFound();
  return topic;
}

function changesOf(topic: Topic, fields: z.output<typeof body>): Changes<Topic> {
  const set: Changes<Topic> = {
    ...(fields.name === undefined ? {} : { name: fields.name, nameKey: topicNameKey(fields.name) }),
    ...(fields.access_level === undefined ? {} : { accessLevel: fields.access_level }),
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fields.is_discoverable === undefined ? {} : { isDiscoverable: fields.is_discoverable }),
    ...(fields.icon_name === undefined ? {} : { iconName: fields.icon_name }),
    ...(fields.icon_color === undefined ? {} : { iconColor: fields.icon_color }),
    ...(fields.retention_days === undefined ? {} : { retentionDays: fields.retention_days }),
    ...(fields.archive === undefined ? {} : { archive: fields.archive }),
  };
  if (Object.keys(set).length === 0) return set;
  const after = { ...topic, ...set };
  requireDescribed(after);
  return { ...set, isListed: isListed(after) };
}
