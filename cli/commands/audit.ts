import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { auditActionNames, type AuditAction } from '@tocsin/shared/domain/audit/audit-actions.ts';
import type { ReadAuditEntry } from '@tocsin/shared/domain/audit/audit-entry.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import {
  findAuditActor,
  findAuditNames,
  paginateAuditEntries,
  type AuditFilter,
} from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { toAuditEntryJson, type AuditEntryJson } from '@tocsin/shared/wire/audit-entry.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withStore, type PrintOptions } from '../operator/operator-store.ts';
import { forTerminal, printLine } from '../output/output.ts';
import { timeOption } from '../options/time-option.ts';
import { wholeNumber } from '../options/whole-number.ts';

interface AuditOptions extends PrintOptions {
  readonly since?: number;
  readonly until?: number;
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly subject?: string;
  readonly limit: number;
  readonly follow?: true;
}

/** Entries per read from the store. */
const pageMax = 1_000;

/** `tocsin audit`: prints the audit log. Works with or without a running server. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('show the audit log, newest first; works while a server runs')
    .addHelpText(
      'after',
      `
Examples:
  tocsin audit --since 2030-01-31 --actor ada@example.org
  tocsin audit --action login.failed --follow --json >> audit.jsonl`,
    )
    .addOption(new Option('--since <time>', 'only entries at or after this time').argParser(timeOption('startOfDay')))
    .addOption(new Option('--until <time>', 'only entries at or before this time').argParser(timeOption('endOfDay')))
    .option('--actor <who>', 'ID or email address of an account, or: operator, system, anonymous')
    .addOption(new Option('--action <name>', 'only this action; `tocsin audit actions` lists them').argParser(action))
    .option('--subject <id>', 'ID of the subject, or of the resource that contains it')
    .addOption(
      new Option('--limit <number>', 'maximum number of entries').default(100).argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(
      new Option('--follow', 'then print new entries, oldest first, until SIGTERM or SIGINT').conflicts('until'),
    )
    .option('--json', 'print one JSON object per line')
    .addCommand(actionsCommand())
    .action((options: AuditOptions, command: Command) => {
      const { since, until } = options;
      if (since !== undefined && until !== undefined && since > until)
        command.error('error: --since must not be after --until');
      return withStore(({ documents }) => show(documents, options));
    });
}

function actionsCommand(): Command {
  return new Command('actions')
    .description('list the actions that the audit log records')
    .action((_, command: Command) => {
      const { json } = command.optsWithGlobals<PrintOptions>();
      process.stdout.write(
        json === true ? `${JSON.stringify(auditActionNames)}\n` : `${auditActionNames.join('\n')}\n`,
      );
    });
}

function action(value: string): AuditAction {
  const found = auditActionNames.find((name) => name === value);
  if (found === undefined) throw new InvalidArgumentError('Run `tocsin audit actions` for the list of actions.');
  return found;
}

async function show(documents: Documents, options: AuditOptions): Promise<void> {
  const { actor, action, subject, since, until } = options;
  const filter: AuditFilter = {
    actor: actor === undefined ? undefined : await findAuditActor(documents, actor),
    action,
    subject: subject?.toLowerCase(),
    since,
    until,
  };
  const begun = systemClock();
  const seen = new Map<string, number>();
  let left = options.limit;
  for await (const page of paginateAuditEntries(documents, filter, pageMax)) {
    await print(documents, page.slice(0, left), options);
    for (const {
      entry: { id, at },
    } of page)
      if (at >= begun) seen.set(id, at);
    left -= Math.min(left, page.length);
    if (left === 0) break;
  }
  if (options.follow === true)
    await follow(documents, { filter: { ...filter, since: Math.max(begun, since ?? 0) }, seen }, options);
}

const followPauseMs = 1_000;
/** An entry becomes visible when its transaction commits, possibly after an entry with a later time. */
const lateMsMax = 15_000;

/** `seen` contains the printed entries since the start, with their times. */
async function follow(
  documents: Documents,
  from: { filter: AuditFilter & { since: number }; seen: Map<string, number> },
  options: AuditOptions,
): Promise<void> {
  const ended = new AbortController();
  void Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => ended.abort());
  const { filter } = from;
  let { seen } = from;
  while (!ended.signal.aborted) {
    const since = Math.max(filter.since, systemClock() - lateMsMax);
    const fresh: ReadAuditEntry[] = [];
    for await (const page of paginateAuditEntries(documents, { ...filter, since }, pageMax))
      fresh.push(...page.filter(({ entry }) => !seen.has(entry.id)));
    await print(documents, fresh.reverse(), options);
    seen = new Map(
      [...seen, ...fresh.map(({ entry }) => [entry.id, entry.at] as const)].filter(([, at]) => at >= since),
    );
    await pause(followPauseMs, undefined, { signal: ended.signal }).catch(() => undefined);
  }
}

async function print(documents: Documents, entries: readonly ReadAuditEntry[], { json }: PrintOptions): Promise<void> {
  const names = await findAuditNames(documents, entries);
  for (const entry of entries) {
    const shown = toAuditEntryJson(entry, names);
    await printLine(json === true ? JSON.stringify(shown) : forTerminal(lineOf(shown)));
  }
}

/** Formats an entry: time, actor, credential, action, subject, origin. A dash replaces unknown parts. */
function lineOf({ timestamp, action, actor, origin, subject, within, details, count }: AuditEntryJson): string {
  const who = actor.name ?? actor.id ?? actor.type;
  const what = subject === null ? '-' : `${subject.type} ${subject.name ?? subject.id}`;
  const more = Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(',') : String(value)}`);
  const parts = [
    timestamp,
    action,
    `${who} (${actor.through})`,
    what + (within === null ? '' : ` in ${within.type} ${within.id}`),
    origin.address ?? '-',
    ...more,
    ...(count === 1 ? [] : [`${count} times`]),
  ];
  return parts.join('  ');
}
