import { AppError } from '@tocsin/shared/domain/errors.ts';
import { pushQueues, renotifyTopicJob } from '@tocsin/shared/domain/push/push-job.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource, isUuid } from '@tocsin/shared/platform/ids.ts';
import { ledgerMs } from '@tocsin/shared/ports/deliveries.ts';
import { listDeadLetters, redriveDeadLetters } from '@tocsin/shared/operations/push/dead-letters.ts';
import { findTopicByName } from '@tocsin/shared/collections/topics.ts';
import { toDeadLetterJson } from '@tocsin/shared/wire/dead-letter.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import { operatorAudit, printObject, withStore, type PrintOptions } from '../operator/operator-store.ts';
import { timeOption } from '../options/time-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withJson } from '../options/with-json.ts';

/** `tocsin push …`: lists and retries failed pushes. Works while a server runs. */
export function pushCommand(): Command {
  const push = new Command('push').description('list and retry failed pushes; works while a server runs').addHelpText(
    'after',
    `
Examples:
  tocsin push dead --topic backups
  tocsin push renotify --topic backups --from 2030-01-30 --to 2030-01-31`,
  );
  return withJson(push, [dead(), redrive(), renotify()]);
}

const shownMax = 1_000;

function dead(): Command {
  return new Command('dead')
    .description('list dead letters, newest first')
    .option('--topic <name>', 'only this topic')
    .addOption(
      new Option('--limit <number>', `maximum number, up to ${shownMax}`)
        .default(100)
        .argParser(wholeNumber(1, shownMax)),
    )
    .action((options: PrintOptions & { topic?: string; limit: number }) =>
      withStore(async ({ documents, openJobQueue }) => {
        const letters = await listDeadLetters(
          { documents, jobQueue: await openJobQueue() },
          { topic: options.topic },
          options.limit,
        );
        const shown = letters.map(toDeadLetterJson);
        const lines = shown.map(
          (one) =>
            `${one.failed_at}  ${one.topic ?? one.topic_id}  ${one.message_id}  devices: ${one.devices ?? '-'}  ${one.reason}\n`,
        );
        const text = lines.length === 0 ? 'No dead letters\n' : lines.join('');
        process.stdout.write(options.json === true ? `${JSON.stringify(shown)}\n` : text);
      }),
    );
}

function redrive(): Command {
  return new Command('redrive')
    .description('enqueue dead letters again; requires one of the options')
    .addOption(new Option('--topic <name>', 'dead letters of one topic').conflicts(['message', 'all']))
    .addOption(
      new Option('--message <id>', 'dead letters of one message').argParser(messageId).conflicts(['topic', 'all']),
    )
    .addOption(new Option('--all', 'all dead letters').conflicts(['topic', 'message']))
    .action((options: PrintOptions & { topic?: string; message?: string; all?: true }, command: Command) => {
      if (options.topic === undefined && options.message === undefined && options.all === undefined)
        command.error('error: give --topic, --message or --all');
      return withStore(async ({ documents, openJobQueue }) => {
        const redriven = await redriveDeadLetters(
          { documents, jobQueue: await openJobQueue() },
          { topic: options.topic, messageId: options.message },
          operatorAudit(),
        );
        printObject({ redriven }, options);
      });
    });
}

function renotify(): Command {
  return new Command('renotify')
    .description('push the messages of a period again to the devices that missed them')
    .requiredOption('--topic <name>', "the topic's name, in any case")
    .addOption(
      new Option('--from <time>', 'published at or after this time, at most 7 days ago')
        .argParser(timeOption('startOfDay'))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--to <time>', 'published at or before this time')
        .argParser(timeOption('endOfDay'))
        .makeOptionMandatory(),
    )
    .action((options: PrintOptions & { topic: string; from: number; to: number }, command: Command) => {
      if (options.from > options.to) command.error('error: --from must not be after --to');
      if (options.from < systemClock() - ledgerMs)
        command.error('error: --from must be within the last 7 days: delivery records are not kept longer');
      return withStore(async ({ documents, openJobQueue }) => {
        const topic = await findTopicByName(documents, options.topic);
        if (topic === null) throw new AppError('not_found', 'Topic not found');
        const { from, to } = options;
        const job = renotifyTopicJob({ topicId: topic.id, from, to, after: null, request: idSource(systemClock)() });
        const queue = await openJobQueue();
        await documents.commit(
          operatorAudit()({ action: 'push.renotified', subject: topic, details: { message_id: null, from, to } }),
        );
        await queue.add(pushQueues.normal, [job]);
        printObject(
          { topic: topic.name, topic_id: topic.id, from: toIso(from), to: toIso(to), message: 'Renotification queued' },
          options,
        );
      });
    });
}

function messageId(value: string): string {
  if (!isUuid(value)) throw new InvalidArgumentError('It must be the ID of a message, a UUID.');
  return value.toLowerCase();
}
