import { eraseAccountJob } from '@tocsin/shared/domain/retention/retention-job.ts';
import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import { additionalMembersMax } from '@tocsin/shared/domain/teams/team.ts';
import { tiers, tierInForce, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { newUser, type User } from '@tocsin/shared/domain/accounts/user.ts';
import { toOperatorUserJson } from '@tocsin/shared/wire/user.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { createAccount } from '@tocsin/shared/operations/accounts/accounts.ts';
import {
  endLogins,
  removeAccountByEmail,
  setPassword,
  verifyAccount,
} from '@tocsin/shared/operations/accounts/operate-account.ts';
import { openPasswords } from '@tocsin/shared/operations/accounts/passwords.ts';
import { setActive } from '@tocsin/shared/operations/accounts/set-active.ts';
import { setTier } from '@tocsin/shared/operations/accounts/set-tier.ts';
import { lateWritesMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  emailArgument,
  passwordOf,
  tier,
  username,
  withPasswordOptions,
  type PasswordOptions,
} from '../options/account-options.ts';
import { finalCommand } from './final-command.ts';
import { findAccount } from '../operator/find-account.ts';
import { collect, withListOptions, type ListOptions } from '../options/list-options.ts';
import {
  operatorAudit,
  printObject,
  printRows,
  notifyNodes,
  withStore,
  type PrintOptions,
} from '../operator/operator-store.ts';
import { haveDone } from '../operator/removal-deps.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withJson } from '../options/with-json.ts';

const makeId = idSource(systemClock);

/** `tocsin user …`: manages accounts. Works with or without a running server. */
export function userCommand(): Command {
  const user = new Command('user')
    .description('list, show, create, change and delete accounts; works while a server runs')
    .addHelpText(
      'after',
      `
Examples:
  tocsin user list --tier TEAM
  tocsin user create ada@example.org --username ada --password-stdin < password.txt
  tocsin user set-tier ada@example.org TEAM --expires 2030-12-31`,
    );
  return withJson(user, [
    list(),
    show(),
    create(),
    setTierCommand(),
    verify(),
    setPasswordCommand(),
    endLoginsCommand(),
    activity('disable', false),
    activity('enable', true),
    remove(),
  ]);
}

function list(): Command {
  return withListOptions(new Command('list').description('list accounts by email address'), 'address or username')
    .addOption(new Option('--tier <tier>', 'only accounts with this tier in effect').argParser(tier))
    .action((options: PrintOptions & ListOptions & { tier?: Tier }) =>
      withStore(async ({ documents }) => {
        const now = systemClock();
        const pages = paginateIndex(documents, users, {
          index: 'email',
          equals: {},
          valueOf: ({ email }) => email,
          next: (email) => email,
        });
        const found = await collect(pages, options, {
          matches: (one) => options.tier === undefined || tierInForce(one, now) === options.tier,
          textsOf: ({ email, username: name }) => [email, name],
        });
        printRows(
          found.map((one) => toOperatorUserJson(one, now)),
          (one) => [
            one.email,
            one.username,
            one.subscription_tier,
            one.is_active ? (one.is_verified ? 'active' : 'unverified') : 'disabled',
            one.created_at,
            one.last_login,
          ],
          options,
        );
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('print an account')
    .argument('<account>', 'email address, username or ID')
    .action((who: string, options: PrintOptions) =>
      withStore(async ({ documents }) => print(await findAccount(documents, who), options)),
    );
}

function create(): Command {
  return withPasswordOptions(
    new Command('create')
      .description('create a verified account; generates and prints a password if none is given')
      .addArgument(emailArgument()),
  )
    .requiredOption('--username <name>', 'unique, 3 to 32 letters, digits, dots, dashes and underscores', username)
    .action(
      async (address: string, options: PrintOptions & PasswordOptions & { username: string }, command: Command) => {
        const { password, isMade } = await passwordOf(options, command);
        await withStore(async (store) => {
          const audit = operatorAudit();
          const id = makeId();
          const made = await createAccount(
            store.documents,
            {
              user: newUser({
                id,
                email: address,
                username: options.username,
                isVerified: true,
                createdAt: systemClock(),
                passwordHash: await openPasswords().hash(password),
                termsAcceptedAt: null,
              }),
              otherWrites: audit({ action: 'account.created', subject: { id }, details: { method: 'operator' } }),
            },
            audit,
          );
          print(made, options, isMade ? { password } : {});
        });
      },
    );
}

function setTierCommand(): Command {
  return new Command('set-tier')
    .description('set the tier of an account; options that are not given keep their values')
    .addArgument(emailArgument())
    .addArgument(new Argument('<tier>', tiers.join(', ')).argParser(tier))
    .option('--expires <time>', 'when the tier ends (ISO 8601), or never', expires)
    .option(
      '--additional-members <number>',
      'seats beyond the ten of every TEAM account',
      wholeNumber(0, additionalMembersMax),
    )
    .action(
      (
        address: string,
        name: Tier,
        options: PrintOptions & { expires?: number | 'never'; additionalMembers?: number },
      ) =>
        change(options, ({ documents }) =>
          setTier(
            documents,
            address,
            {
              tier: name,
              expiresAt: options.expires === 'never' ? null : options.expires,
              additionalMembers: options.additionalMembers,
              now: systemClock(),
            },
            operatorAudit(),
          ),
        ),
    );
}

function verify(): Command {
  return new Command('verify')
    .description('mark the email address of an account as verified, so that it can log in')
    .addArgument(emailArgument())
    .action((address: string, options: PrintOptions) =>
      change(options, ({ documents }) => verifyAccount(documents, address, operatorAudit())),
    );
}

function setPasswordCommand(): Command {
  return withPasswordOptions(
    new Command('set-password')
      .description(
        'set the password of an account and end its logins; generates and prints a password if none is given',
      )
      .addArgument(emailArgument()),
  ).action(async (address: string, options: PrintOptions & PasswordOptions, command: Command) => {
    const { password, isMade } = await passwordOf(options, command);
    await withStore(async (store) => {
      const { user, changes } = await setPassword(
        store.documents,
        address,
        await openPasswords().hash(password),
        operatorAudit(),
      );
      await notifyNodes(store, ...changes);
      print(user, options, isMade ? { password } : {});
    });
  });
}

function endLoginsCommand(): Command {
  return new Command('end-logins')
    .description('end all logins of an account; API keys and topic tokens stay valid')
    .addArgument(emailArgument())
    .action((address: string, options: PrintOptions) =>
      withStore(async (store) => {
        const { user, changes } = await endLogins(store.documents, address, operatorAudit());
        await notifyNodes(store, ...changes);
        print(user, options);
      }),
    );
}

function activity(name: 'enable' | 'disable', isActive: boolean): Command {
  return new Command(name)
    .description(
      isActive
        ? 'undo disable: logins and keys work again'
        : 'disable an account: its logins, keys and tokens are invalid until enable',
    )
    .addArgument(emailArgument())
    .action((address: string, options: PrintOptions) =>
      change(options, ({ documents }) => setActive(documents, address, isActive, operatorAudit())),
    );
}

function remove(): Command {
  return finalCommand(
    new Command('delete')
      .description('delete an account with its topics, teams and all other data')
      .addArgument(emailArgument()),
  ).action((address: string, options: PrintOptions) =>
    withStore(async (store, config) => {
      const user = await removeAccountByEmail(store.documents, address, { now: systemClock(), audit: operatorAudit() });
      await notifyNodes(store, { kind: 'user', userId: user.id });
      await haveDone(
        store,
        [0, lateWritesMsOf(config)].map((delayMs) => eraseAccountJob(makeId(), user.id, delayMs)),
      );
      printObject(
        { id: user.id, email: user.email, message: 'Deleted; a running server erases the remaining data' },
        options,
      );
    }),
  );
}

async function change(options: PrintOptions, act: (store: OperatorStore) => Promise<User>): Promise<void> {
  await withStore(async (store) => {
    const user = await act(store);
    await notifyNodes(store, { kind: 'user', userId: user.id });
    print(user, options);
  });
}

function print(user: User, options: PrintOptions, more: Record<string, string> = {}): void {
  printObject({ ...toOperatorUserJson(user, systemClock()), ...more }, options);
}

function expires(value: string): number | 'never' {
  if (value === 'never') return value;
  const time = parseTime(value);
  if (time === null) throw new InvalidArgumentError('It must be a date, a time as in 2030-01-31T12:00:00Z, or never.');
  return time;
}
