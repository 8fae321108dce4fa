import { topicChange } from '@tocsin/shared/domain/change.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { ownedTopics } from '@tocsin/shared/operations/topics/owned-topics.ts';
import { removeTopic } from '@tocsin/shared/operations/topics/remove-topic.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { setHold } from '@tocsin/shared/operations/retention/set-hold.ts';
import { findTopicByName, topics } from '@tocsin/shared/collections/topics.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { toHoldJson } from '@tocsin/shared/wire/hold.ts';
import { toTopicJson } from '@tocsin/shared/wire/topic.ts';
import { Command } from 'commander';
import { createTopicCommand } from './create-topic.ts';
import { topicEscalationCommand } from './topic-escalation.ts';
import { finalCommand } from '../final-command.ts';
import { heldMessagesCommand } from './held-messages.ts';
import { findAccount } from '../../operator/find-account.ts';
import { findEmails } from '../../operator/find-emails.ts';
import { collect, withListOptions, type ListOptions } from '../../options/list-options.ts';
import {
  operatorAudit,
  printObject,
  printRows,
  notifyNodes,
  withStore,
  type PrintOptions,
} from '../../operator/operator-store.ts';
import { removalDeps } from '../../operator/removal-deps.ts';
import { withJson } from '../../options/with-json.ts';

/** `tocsin topic …`: manages topics. The operator commands work with or without a running server. */
export function topicCommand(): Command {
  const topic = new Command('topic')
    .description('create, list, show, hold and delete topics, and set their escalation')
    .addHelpText(
      'after',
      `
The commands create and escalation are requests of the logged-in account to a server. The other commands are for operators:
they open the store directly, with or without a running server.

Examples:
  tocsin topic create backups
  tocsin topic list --owner ada@example.org
  tocsin topic hold backups`,
    );
  return withJson(topic, [
    createTopicCommand(),
    topicEscalationCommand(),
    list(),
    show(),
    hold('hold', {
      isHeld: true,
      description: 'put a topic under legal hold: neither the topic nor its messages are deleted until release',
    }),
    hold('release', { isHeld: false, description: 'end a legal hold; the next sweep removes expired messages' }),
    heldMessagesCommand(),
    remove(),
  ]);
}

const nameArgument = ['<name>', 'name of the topic, case-insensitive'] as const;

function list(): Command {
  return withListOptions(
    new Command('list').description('list topics by name, or the topics of an owner by creation time'),
    'name or description',
  )
    .option('--owner <account>', 'only topics of this account (email address, username or ID)')
    .option('--held', 'only topics under legal hold')
    .action((options: PrintOptions & ListOptions & { owner?: string; held?: true }) =>
      withStore(async (store, config) => {
        const { documents } = store;
        const pages =
          options.owner === undefined
            ? paginateIndex(documents, topics, {
                index: 'name',
                equals: {},
                valueOf: ({ nameKey }) => nameKey,
                next: (key) => key,
              })
            : ownedTopics(documents, (await findAccount(documents, options.owner)).id);
        const found = await collect(pages, options, {
          matches: ({ isHeld }) => options.held === undefined || isHeld,
          textsOf: ({ name, description }) => [name, description],
        });
        printRows(
          await describe(store, config, found),
          (one) => [
            one.name,
            one.access_level,
            one.owner,
            `messages: ${one.message_count}`,
            `subscribers: ${one.subscriber_count}`,
            one.last_message_at,
            one.legal_hold ? 'held' : '',
          ],
          options,
        );
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('print a topic')
    .argument(...nameArgument)
    .action((name: string, options: PrintOptions) =>
      withStore(async (store, config) => {
        const [shown] = await describe(store, config, [await findTopic(store, name)]);
        printObject(shown!, options);
      }),
    );
}

function hold(name: string, { isHeld, description }: { isHeld: boolean; description: string }): Command {
  return new Command(name)
    .description(description)
    .argument(...nameArgument)
    .action((topicName: string, options: PrintOptions) =>
      withStore(async (store) => {
        const topic = await setHold(store.documents, topicName, isHeld, operatorAudit());
        await notifyNodes(store, topicChange(topic));
        printObject(toHoldJson(topic), options);
      }),
    );
}

function remove(): Command {
  return finalCommand(
    new Command('delete')
      .description('delete a topic with its messages, topic tokens and subscriptions')
      .argument(...nameArgument),
  ).action((name: string, options: PrintOptions) =>
    withStore(async (store, config) => {
      const deps = removalDeps(store, config);
      const topic = await removeTopic(deps, (await findTopic(store, name)).id, operatorAudit());
      await deps.onStep({ changes: [topicChange(topic)], cleanups: [{ topicId: topic.id, kind: 'erase' }] });
      printObject(
        { topic: topic.name, topic_id: topic.id, message: 'Deleted; a running server removes its messages' },
        options,
      );
    }),
  );
}

async function findTopic({ documents }: OperatorStore, name: string): Promise<Topic> {
  const topic = await findTopicByName(documents, name);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  return topic;
}

/** Returns the operator's view of the topics, in the given order. */
async function describe(
  { documents, openMessages }: OperatorStore,
  config: Pick<Config, 'ARCHIVE_DEFAULT'>,
  found: readonly Topic[],
) {
  const messages = await openMessages();
  const [stats, emails] = await Promise.all([
    messages.topicStats(found.map(({ id }) => id)),
    findEmails(
      documents,
      found.map(({ ownerId }) => ownerId),
    ),
  ]);
  return found.map((topic) => {
    const { can_manage: _, ...shown } = toTopicJson(topic, {
      stats: stats.get(topic.id) ?? { messageCount: 0, lastMessageAt: null },
      canManage: true,
      archiveDefault: config.ARCHIVE_DEFAULT,
    });
    return { ...shown, owner: emails.get(topic.ownerId) ?? null, legal_hold: topic.isHeld };
  });
}
