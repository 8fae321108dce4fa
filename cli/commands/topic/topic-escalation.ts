import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { EscalationPolicyJson } from '@tocsin/shared/wire/escalation.ts';
import { printObject, type PrintOptions } from '../../operator/operator-store.ts';
import { readInput } from '../../options/read-input.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../../options/server-options.ts';
import { wholeNumber } from '../../options/whole-number.ts';
import { TocsinError } from '@tocsin/client';
import { ask, type Server } from '../../server/server.ts';
import { topicPath } from '../../server/topic-path.ts';

interface PolicyFlags {
  readonly minPriority?: number;
  readonly repeatEvery?: string;
  readonly repeatMax?: number;
  readonly autoAck?: boolean;
}

interface EscalationOptions extends PolicyFlags, PrintOptions, ServerOptions {
  readonly set?: string;
  readonly off?: true;
}

const flags = ['minPriority', 'repeatEvery', 'repeatMax', 'autoAck'] as const satisfies (keyof PolicyFlags)[];

/** `tocsin topic escalation`: shows, sets or deletes the escalation policy of a topic over HTTP. */
export function topicEscalationCommand(): Command {
  return withServerOptions(new Command('escalation'))
    .description('print, set or delete the escalation policy of a topic that you manage')
    .addHelpText(
      'after',
      `
Without an option that changes it, prints the policy. The options of single fields keep the other fields; without a policy,
--min-priority, --repeat-every and --repeat-max are required. Steps are set with --set.

Examples:
  tocsin topic escalation pumps
  tocsin topic escalation pumps --min-priority 5 --repeat-every 2m --repeat-max 5
  tocsin topic escalation pumps --json > policy.json
  tocsin topic escalation pumps --set policy.json
  tocsin topic escalation pumps --off`,
    )
    .argument('<topic>', 'name of the topic, case-insensitive')
    .addOption(
      new Option('--set <file>', 'replace the policy by the JSON in this file, or in standard input (-)').conflicts([
        ...flags,
      ]),
    )
    .addOption(
      new Option('--min-priority <1-5>', 'messages of at least this priority require an acknowledgement').argParser(
        wholeNumber(1, 5),
      ),
    )
    .option('--repeat-every <duration>', 'time between two pushes, 30s to 1h')
    .addOption(new Option('--repeat-max <number>', 'repeats, at most 20').argParser(wholeNumber(0, 20)))
    .option('--auto-ack', 'a resolved alert acknowledges its message')
    .option('--no-auto-ack', 'a resolved alert acknowledges nothing')
    .addOption(new Option('--off', 'delete the policy').conflicts(['set', 'json', ...flags]))
    .action(async (name: string, { set, off, json, ...options }: EscalationOptions) => {
      const server = serverOf(options);
      const path = `${await topicPath(server, name)}/escalation`;
      if (off === true) return void (await ask(server, path, { method: 'DELETE' }));
      const policy = await policyOf(server, path, { set, ...options });
      printObject(json === true ? policy : withStepLines(policy), json === true ? { json } : {});
    });
}

/** Stores the policy that the options describe, if any; returns the current one. */
async function policyOf(
  server: Server,
  path: string,
  { set, ...options }: PolicyFlags & { readonly set: string | undefined },
): Promise<EscalationPolicyJson> {
  const isChanged = flags.some((flag) => options[flag] !== undefined);
  if (set === undefined && !isChanged) return read(await ask(server, path));
  const body = set === undefined ? await changed(server, path, options) : await readPolicy(set);
  const headers = { 'Content-Type': 'application/json' };
  return read(await ask(server, path, { method: 'PUT', headers, body: JSON.stringify(body) }));
}

const read = (answer: Response): Promise<EscalationPolicyJson> => answer.json() as Promise<EscalationPolicyJson>;

/** The current policy with the fields of the options; only these fields without a policy. */
async function changed(server: Server, path: string, options: PolicyFlags): Promise<object> {
  const current = await ask(server, path).then(read, (error: unknown) => {
    if (error instanceof TocsinError && error.status === 404) return null;
    throw error;
  });
  return {
    ...current,
    ...given('min_priority', options.minPriority),
    ...given('repeat_every', options.repeatEvery),
    ...given('repeat_max', options.repeatMax),
    ...given('auto_ack_on_resolve', options.autoAck),
  };
}

const given = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value });

async function readPolicy(file: string): Promise<unknown> {
  const text = file === '-' ? await readInput() : readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file === '-' ? 'Standard input' : file} is not JSON`, { cause });
  }
}

/** Shows each step as a line. */
function withStepLines({ steps, ...policy }: EscalationPolicyJson): object {
  const lines = steps.map(({ after, to }, index) => {
    const people =
      'users' in to
        ? [...to.users, ...(to.team_role === null ? [] : [`team role ${to.team_role}`])].join(', ')
        : `topic ${to.topic ?? 'that was deleted'}`;
    return [`step ${index + 1}`, `after ${after} to ${people}`];
  });
  return { ...policy, ...Object.fromEntries(lines) };
}
