import type { RunRequest } from '@tocsin/shared/domain/retention/retention-run.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import {
  confirmPlan,
  pauseRetention,
  requestRun,
  resumeRetention,
} from '@tocsin/shared/operations/retention/operate-retention.ts';
import { describePlan } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { listRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { toRunJson, toStateJson, type RetentionRunJson } from '@tocsin/shared/wire/retention.ts';
import { Command, Option } from 'commander';
import { operatorAudit, printObject, withStore, type PrintOptions } from '../operator/operator-store.ts';
import { timeOption } from '../options/time-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withJson } from '../options/with-json.ts';

const shownMax = 1_000;
/** A date without a time includes the whole day. */
const time = timeOption('endOfDay');

/** `tocsin retention …`: controls the removal of expired messages. Works while a server runs. */
export function retentionCommand(): Command {
  const retention = new Command('retention')
    .description('control the removal of expired messages; works while a server runs')
    .addHelpText(
      'after',
      `
Examples:
  tocsin retention plan
  tocsin retention pause --reason 'before the migration'`,
    );
  return withJson(retention, [plan(), run(), history(), pause(), resume(), confirm()]);
}

function plan(): Command {
  return new Command('plan')
    .description('print which messages would be removed; removes nothing')
    .addOption(
      new Option('--up-to <time>', 'expiry time up to which messages are counted (default: now)').argParser(time),
    )
    .addOption(
      new Option('--limit <number>', `maximum number of topics, up to ${shownMax}`)
        .default(100)
        .argParser(wholeNumber(1, shownMax)),
    )
    .action((options: PrintOptions & { upTo?: number; limit: number }) =>
      withStore(async ({ documents, openMessages }, config) => {
        const now = systemClock();
        const shown = await describePlan(
          { documents, messages: await openMessages() },
          { upTo: options.upTo ?? now, now, limit: options.limit, isSet: config.RETENTION_PROTECT_CONSUMERS },
        );
        if (options.json === true) return printObject(shown, options);
        const { tiers, topics, held, waiting, consumers_behind: behind, ...sums } = shown;
        printObject(
          {
            ...sums,
            held: volume(held),
            waiting: waiting === null ? null : `${volume(waiting)} up to ${waiting.up_to}`,
          },
          options,
        );
        for (const one of tiers) line(`tier ${one.tier}: ${volume(one)} of ${one.of_messages}`);
        for (const one of topics)
          line(
            `topic ${one.topic ?? one.topic_id}: ${volume(one)}${one.retention_days === null ? '' : `, for ${one.retention_days} days`}${one.legal_hold ? ', held' : ''}, oldest kept ${one.oldest_kept ?? '-'}`,
          );
        printBehind(behind);
      }),
    );
}

function run(): Command {
  return new Command('run')
    .description('request a run of a running worker that removes expired messages; a large plan waits for confirmation')
    .addOption(new Option('--up-to <time>', "a plan's time (default: now)").argParser(time))
    .addOption(protectConsumers())
    .action((options: QueueOptions & { upTo?: number }, command: Command) => {
      const now = systemClock();
      if (options.upTo !== undefined && options.upTo > now) command.error('error: --up-to must not be in the future');
      return queue(requestRun, options.upTo ?? now, options);
    });
}

function confirm(): Command {
  return new Command('confirm')
    .description('confirm the waiting plan and request its run')
    .addOption(
      new Option('--up-to <time>', "the waiting plan's time, as plan prints it").argParser(time).makeOptionMandatory(),
    )
    .addOption(protectConsumers())
    .action((options: QueueOptions & { upTo: number }) => queue(confirmPlan, options.upTo, options));
}

interface QueueOptions extends PrintOptions {
  readonly protectConsumers?: boolean;
}

const protectConsumers = () =>
  new Option(
    '--protect-consumers',
    'keep records that a consumer has not read for up to 7 days after their expiry, in all runs of the next 7 days',
  );

function queue(act: typeof requestRun | typeof confirmPlan, upTo: number, options: QueueOptions): Promise<void> {
  return withStore(async (store) => {
    const request: RunRequest = { id: idSource(systemClock)(), upTo, startedBy: 'command' };
    await act(store, request, operatorAudit(), options.protectConsumers === true ? systemClock() : null);
    printObject({ run_id: request.id, up_to: toIso(upTo), message: 'Run queued' }, options);
  });
}

/** Nothing without an archive. */
const archivedOf = ({ archived: { messages, objects } }: ReturnType<typeof toRunJson>): string =>
  objects === 0 ? '' : `  archived ${messages} in ${objects} objects`;

function history(): Command {
  return new Command('history')
    .description('print the runs of the last 90 days, newest first')
    .addOption(
      new Option('--limit <number>', `maximum number, up to ${shownMax}`)
        .default(50)
        .argParser(wholeNumber(1, shownMax)),
    )
    .action((options: PrintOptions & { limit: number }) =>
      withStore(async ({ documents }) => {
        const runs = (await listRuns(documents, options.limit)).map(toRunJson);
        if (options.json === true) return line(JSON.stringify(runs));
        if (runs.length === 0) return line('No retention runs in the last 90 days');
        for (const one of runs) {
          line(
            `${one.started_at}  ${one.outcome}  by ${one.started_by}  up to ${one.up_to}  planned ${volume(one.planned)}  removed ${volume(one.removed)}${archivedOf(one)}`,
          );
          printBehind(one.consumers_behind, '  ');
        }
      }),
    );
}

function pause(): Command {
  return new Command('pause')
    .description('stop the removal of expired messages until resume')
    .requiredOption('--reason <text>', 'reason, shown in the state and the audit log')
    .action((options: PrintOptions & { reason: string }) =>
      withStore(async ({ documents }) => {
        printState(
          await pauseRetention(documents, { now: systemClock(), reason: options.reason }, operatorAudit()),
          options,
        );
      }),
    );
}

function resume(): Command {
  return new Command('resume')
    .description('undo pause')
    .action((options: PrintOptions) =>
      withStore(async ({ documents }) => printState(await resumeRetention(documents, operatorAudit()), options)),
    );
}

function printState(state: Parameters<typeof toStateJson>[0], options: PrintOptions): void {
  const { waiting, ...shown } = toStateJson(state);
  printObject(
    {
      ...shown,
      waiting: options.json === true || waiting === null ? waiting : `${volume(waiting)} up to ${waiting.up_to}`,
    },
    options,
  );
}

function printBehind(behind: RetentionRunJson['consumers_behind'], indent = ''): void {
  for (const { topic, topic_id: topicId, consumer, unread } of behind)
    line(`${indent}consumer ${consumer} of topic ${topic ?? topicId}: ${unread} unread records`);
}

const volume = ({ messages, bytes }: { messages: number; bytes: number }): string =>
  `${messages} messages, ${bytes} bytes`;

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}
