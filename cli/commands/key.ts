import {
  apiKeyPrefix,
  credentialLimits,
  newApiKey,
  scopes,
  type ApiKey,
  type Scope,
} from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource, isUuid } from '@tocsin/shared/platform/ids.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { apiKeys, findApiKeyBySecret, findApiKeys } from '@tocsin/shared/collections/credentials.ts';
import { insertApiKey } from '@tocsin/shared/operations/credentials/insert-api-key.ts';
import { removeApiKey } from '@tocsin/shared/operations/credentials/remove-api-key.ts';
import { setApiKeyActive } from '@tocsin/shared/operations/credentials/set-api-key-active.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { finalCommand } from './final-command.ts';
import { findAccount } from '../operator/find-account.ts';
import {
  operatorAudit,
  printObject,
  printRows,
  notifyNodes,
  withStore,
  type PrintOptions,
} from '../operator/operator-store.ts';
import { readInput } from '../options/read-input.ts';
import { timeOption } from '../options/time-option.ts';
import { withJson } from '../options/with-json.ts';

/** `tocsin key …`: manages the API keys of accounts. Works with or without a running server. */
export function keyCommand(): Command {
  const key = new Command('key')
    .description('list, show, create, revoke and delete API keys; works while a server runs')
    .addHelpText(
      'after',
      `
Examples:
  tocsin key create ada@example.org --name ci --scopes publish --expires 2030-12-31
  tocsin key find < leaked.txt`,
    );
  return withJson(key, [
    list(),
    show(),
    find(),
    create(),
    activity('revoke', false),
    activity('enable', true),
    remove(),
  ]);
}

const accountArgument = ['<account>', 'email address, username or ID'] as const;

const idArgument = () =>
  new Argument('<id>', 'ID of the key, as `list` prints it').argParser((value: string) => {
    if (!isUuid(value)) throw new InvalidArgumentError('It must be the ID of a key, a UUID.');
    return value.toLowerCase();
  });

function list(): Command {
  return new Command('list')
    .description('list the API keys of an account, newest first')
    .argument(...accountArgument)
    .action((who: string, options: PrintOptions) =>
      withStore(async ({ documents }) => {
        const now = systemClock();
        const found = await findApiKeys(documents, (await findAccount(documents, who)).id);
        printRows(
          found.map((key) => toApiKeyJson(key, now)),
          (one) => [
            one.id,
            one.key_prefix,
            one.name,
            one.scopes.join(','),
            one.is_valid ? 'valid' : one.is_active ? 'expired' : 'revoked',
            `requests: ${one.request_count}`,
            one.last_used_at,
          ],
          options,
        );
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('print a key, without its secret')
    .addArgument(idArgument())
    .action((id: string, options: PrintOptions) =>
      withStore(async ({ documents }) => print(documents, await load(documents, id), options)),
    );
}

function find(): Command {
  return new Command('find')
    .description('find an API key by its secret, read from standard input')
    .action((options: PrintOptions) =>
      withStore(async ({ documents }) => {
        const key = await findApiKeyBySecret(documents, hashSecret((await readInput()).trim()));
        if (key === null) throw notFound();
        await print(documents, key, options);
      }),
    );
}

interface CreateOptions extends PrintOptions {
  readonly name: string;
  readonly description?: string;
  readonly scopes: readonly Scope[];
  readonly expires?: number;
}

function create(): Command {
  return new Command('create')
    .description('create an API key for an account and print its secret, which is not shown again')
    .argument(...accountArgument)
    .addOption(
      new Option('--name <text>', `1 to ${credentialLimits.name} characters`)
        .argParser(textOf(1, credentialLimits.name))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--description <text>', `at most ${credentialLimits.description} characters`).argParser(
        textOf(0, credentialLimits.description),
      ),
    )
    .addOption(
      new Option('--scopes <list>', `comma-separated, of: ${scopes.join(', ')}`)
        .default(['*'], '*')
        .argParser(scopeList),
    )
    .addOption(new Option('--expires <time>', 'when it ends (default: never)').argParser(timeOption('startOfDay')))
    .action((who: string, options: CreateOptions, command: Command) => {
      const now = systemClock();
      if (options.expires !== undefined && options.expires <= now)
        command.error('error: --expires must be in the future');
      return withStore(async ({ documents }) => {
        const owner = await findAccount(documents, who);
        const secret = makeSecret(apiKeyPrefix);
        const key = newApiKey(secret, {
          id: idSource(systemClock)(),
          userId: owner.id,
          name: options.name,
          description: options.description ?? null,
          secretHash: hashSecret(secret),
          scopes: options.scopes,
          createdAt: now,
          expiresAt: options.expires ?? null,
        });
        const otherWrites = operatorAudit()({
          action: 'api_key.created',
          subject: key,
          details: { scopes: key.scopes, expires_at: key.expiresAt },
        });
        await insertApiKey(documents, key, {
          loadOwner: async () => write.require(users, await findAccount(documents, owner.id)),
          otherWrites,
        });
        printObject({ ...toApiKeyJson(key, now), key: secret }, options);
      });
    });
}

function activity(name: 'revoke' | 'enable', isActive: boolean): Command {
  return new Command(name)
    .description(isActive ? 'undo revoke' : 'make a key invalid until enable')
    .addArgument(idArgument())
    .action((id: string, options: PrintOptions) =>
      withStore(async (store) => {
        const { documents } = store;
        const key = await setApiKeyActive(
          documents,
          () => load(documents, id),
          { isActive, now: systemClock() },
          operatorAudit(),
        );
        await tell(store, key);
        await print(documents, key, options);
      }),
    );
}

function remove(): Command {
  return finalCommand(
    new Command('delete').description('delete an API key permanently').addArgument(idArgument()),
  ).action((id: string, options: PrintOptions) =>
    withStore(async (store) => {
      const key = await removeApiKey(store.documents, () => load(store.documents, id), operatorAudit());
      await tell(store, key);
      printObject({ id: key.id, name: key.name, message: 'Deleted' }, options);
    }),
  );
}

const notFound = () => new AppError('not_found', 'API key not found');

async function load(documents: Documents, id: string): Promise<ApiKey> {
  const key = await documents.get(apiKeys, id);
  if (key === null) throw notFound();
  return key;
}

const tell = (store: OperatorStore, { secretHash }: ApiKey): Promise<void> =>
  notifyNodes(store, { kind: 'api-key', secretHash });

async function print(documents: Documents, key: ApiKey, options: PrintOptions): Promise<void> {
  const owner = await documents.get(users, key.userId);
  printObject({ ...toApiKeyJson(key, systemClock()), owner: owner?.email ?? null }, options);
}

function scopeList(value: string): Scope[] {
  const given = value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const known = scopes.filter((scope) => given.includes(scope));
  if (given.length === 0 || given.some((one) => !known.includes(one as Scope)))
    throw new InvalidArgumentError(`It must be some of ${scopes.join(', ')}.`);
  return known;
}

function textOf(min: number, max: number): (value: string) => string {
  return (value) => {
    const count = [...value].length;
    if (count < min || count > max) throw new InvalidArgumentError(`It must be ${min} to ${max} characters.`);
    return value;
  };
}
