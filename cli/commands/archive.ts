import { findTopicByName, topics } from '@tocsin/shared/collections/topics.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { openArchiveStore } from '@tocsin/shared/open-archive-store.ts';
import { readArchive } from '@tocsin/shared/operations/archive/read-archive.ts';
import { restoreArchive } from '@tocsin/shared/operations/archive/restore-archive.ts';
import { verifyArchive, type ArchiveReport } from '@tocsin/shared/operations/archive/verify-archive.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import { ConfigError, loadConfig } from '@tocsin/shared/platform/load-config.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import type { ArchiveManifest } from '@tocsin/shared/wire/archive-manifest.ts';
import { Command, Option } from 'commander';
import { operatorAudit, printObject, printRows, withStore, type PrintOptions } from '../operator/operator-store.ts';
import { progressOf } from '../output/report-progress.ts';
import { timeOption } from '../options/time-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withJson } from '../options/with-json.ts';

/** Ten years. */
const daysMax = 3_650;

interface ArchiveOptions extends PrintOptions {
  readonly topic?: string;
}

/** `tocsin archive …`: reads the archive of removed messages. */
export function archiveCommand(): Command {
  const archive = new Command('archive').description('read the archive of messages that retention removed');
  return withJson(archive, [list(), verify(), restore()]);
}

const topicOption = ['--topic <topic>', 'only this topic: its name, or its ID, also of a deleted topic'] as const;

function list(): Command {
  return new Command('list')
    .description('print the archived objects, by topic and first offset')
    .option(...topicOption)
    .action((options: ArchiveOptions) =>
      withArchive(options, async (store, topicId) => {
        const manifests: ArchiveManifest[] = [];
        for await (const entry of readArchive(store, topicId))
          if (entry.kind === 'object') manifests.push(entry.manifest);
          else if (entry.kind === 'damaged') warn(`${entry.key} is not a manifest`);
        printRows(manifests, partsOf, options);
      }),
    );
}

const partsOf = ({ topic, messages, first_time, last_time, object }: ArchiveManifest) => [
  topic,
  `${messages} messages`,
  `${first_time} to ${last_time}`,
  object,
];

function verify(): Command {
  return new Command('verify')
    .description('read all archived objects and compare them with their manifests; exits with 1 if one is damaged')
    .option(...topicOption)
    .action((options: ArchiveOptions) =>
      withArchive(options, async (store, topicId) => {
        const report = await verifyArchive(store, topicId, progressOf('messages verified'));
        const { unfinished } = report;
        printReport(options.json === true ? report : { ...report, unfinished: unfinished.length }, options);
      }),
    );
}

function restore(): Command {
  return new Command('restore')
    .description('return archived messages of a topic to its history as read-only messages; works while a server runs')
    .requiredOption('--topic <topic>', 'name or ID of the topic')
    .addOption(new Option('--from <time>', 'earliest publish time (default: all)').argParser(timeOption('startOfDay')))
    .addOption(new Option('--to <time>', 'latest publish time (default: all)').argParser(timeOption('endOfDay')))
    .addOption(
      new Option('--days <number>', `days until retention removes them again, up to ${daysMax}`)
        .argParser(wholeNumber(1, daysMax))
        .makeOptionMandatory(),
    )
    .action((options: ArchiveOptions & { from?: number; to?: number; days: number }) =>
      withArchive(options, (store, topicId) =>
        withStore(async ({ documents, openMessages }) => {
          const topic = await documents.get(topics, topicId!);
          if (topic === null)
            throw new AppError('not_found', 'Topic not found: messages of a deleted topic cannot be restored');
          const now = systemClock();
          const { from = 0, to = now, days } = options;
          const report = await restoreArchive(
            { store, documents, messages: await openMessages() },
            { topic, from, to, days, now, audit: operatorAudit(), onProgress: progressOf('messages read') },
          );
          printReport(report, options);
        }),
      ),
    );
}

/** Prints faults as errors, which also determine the exit code. */
function printReport<R extends Pick<ArchiveReport, 'faults'>>(report: R, options: PrintOptions): void {
  const { faults } = report;
  if (options.json !== true) for (const { key, fault } of faults) warn(`${key} ${fault}`);
  printObject(options.json === true ? report : { ...report, faults: faults.length }, options);
  if (faults.length > 0) process.exitCode = 1;
}

async function withArchive(
  { topic }: ArchiveOptions,
  act: (store: ArchiveStore, topicId: string | null) => Promise<void>,
): Promise<void> {
  const store = await openArchiveStore(loadConfig(process.env));
  if (store === null)
    throw new ConfigError(['ARCHIVE_URL missing: set it to file:///path or s3://bucket/prefix, as for the server']);
  try {
    await act(store, topic === undefined ? null : await topicIdOf(topic));
  } finally {
    await store.close();
  }
}

/** A deleted topic has only its ID. */
async function topicIdOf(topic: string): Promise<string> {
  let id = isUuid(topic) ? topic.toLowerCase() : null;
  await withStore(async ({ documents }) => {
    id = (await findTopicByName(documents, topic))?.id ?? id;
  });
  if (id === null) throw new AppError('not_found', 'Topic not found: name a topic, or the ID of a deleted one');
  return id;
}

function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}
