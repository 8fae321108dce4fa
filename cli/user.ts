import { text } from 'node:stream/consumers';
import { isEmailAddress, isUsername, passwordFault } from '@tocsin/shared/domain/account-rules.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import { additionalMembersMax } from '@tocsin/shared/domain/team.ts';
import { tiers, type Tier } from '@tocsin/shared/domain/tiers.ts';
import { newUser, type User } from '@tocsin/shared/domain/user.ts';
import { toOperatorUserJson } from '@tocsin/shared/domain/user-json.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { openPasswords } from '@tocsin/shared/stores/passwords.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { createAccount } from '@tocsin/shared/stores/accounts.ts';
import { setActive } from '@tocsin/shared/stores/set-active.ts';
import { setTier } from '@tocsin/shared/stores/set-tier.ts';
import { findUserByEmail } from '@tocsin/shared/stores/users.ts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { operatorAudit, printObject, tellNodes, withStore, type PrintOptions } from './operator-store.ts';
import { wholeNumber } from './whole-number.ts';

/** `tocsin user …`: accounts by the operator's hand, beside a running installation or without one. */
export function userCommand(): Command {
  const user = new Command('user').description('make and change accounts; works beside a running server');
  for (const command of [create(), setTierCommand(), activity('disable', false), activity('enable', true), show()]) {
    user.addCommand(command.option('--json', 'print the account as JSON'));
  }
  return user;
}

interface CreateOptions {
  username: string;
  password?: string;
  passwordStdin?: boolean;
  json?: boolean;
}

function create(): Command {
  return new Command('create')
    .description('make a verified account; without a password one is made and printed')
    .addArgument(new Argument('<email>').argParser(email))
    .requiredOption('--username <name>', 'unique, 3 to 32 letters, digits, dots, dashes and underscores', username)
    .addOption(new Option('--password <text>', 'seen by whoever lists processes: better --password-stdin').argParser(newPassword).conflicts('passwordStdin'))
    .option('--password-stdin', 'read the password from standard input')
    .action(async (address: string, options: CreateOptions, command: Command) => {
      const given = options.passwordStdin === true ? await passwordFromStdin(command) : options.password;
      const password = given ?? makeSecret();
      await withStore(async (store) => {
        const now = systemClock();
        const audit = operatorAudit();
        const id = idSource(systemClock)();
        const made = await createAccount(store.documents, {
          user: newUser({
            id, email: address, username: options.username, isVerified: true, createdAt: now,
            passwordHash: await openPasswords().hash(password), termsAcceptedAt: null,
          }),
          also: audit({ action: 'account.created', subject: { id }, details: { method: 'operator' } }),
        }, audit);
        print(made, options, given === undefined ? { password } : {});
      });
    });
}

function setTierCommand(): Command {
  return new Command('set-tier')
    .description("set an account's tier; what is not named stays")
    .addArgument(new Argument('<email>').argParser(email))
    .addArgument(new Argument('<tier>', tiers.join(', ')).argParser(tier))
    .option('--expires <time>', 'when the tier ends (ISO 8601), or never', expires)
    .option('--additional-members <number>', 'seats beyond the ten of every TEAM account', wholeNumber(0, additionalMembersMax))
    .action(async (address: string, name: Tier, options: { expires?: number | 'never'; additionalMembers?: number; json?: boolean }) => {
      await change(options, ({ documents }) => setTier(documents, address, {
        tier: name, expiresAt: options.expires === 'never' ? null : options.expires, additionalMembers: options.additionalMembers, now: systemClock(),
      }, operatorAudit()));
    });
}

function activity(name: 'enable' | 'disable', isActive: boolean): Command {
  return new Command(name)
    .description(isActive ? 'undo disable: logins and keys work again' : 'make every login, key and token of an account invalid, until enable')
    .addArgument(new Argument('<email>').argParser(email))
    .action((address: string, options: PrintOptions) => change(options, ({ documents }) => setActive(documents, address, isActive, operatorAudit())));
}

function show(): Command {
  return new Command('show')
    .description('print an account')
    .addArgument(new Argument('<email>').argParser(email))
    .action(async (address: string, options: PrintOptions) => {
      await withStore(async ({ documents }) => {
        const user = await findUserByEmail(documents, address);
        if (user === null) throw new AppError('not_found', 'User not found');
        print(user, options);
      });
    });
}

async function change(options: PrintOptions, act: (store: OperatorStore) => Promise<User>): Promise<void> {
  await withStore(async (store) => {
    const user = await act(store);
    await tellNodes(store, { kind: 'user', userId: user.id });
    print(user, options);
  });
}

function print(user: User, options: PrintOptions, more: Record<string, string> = {}): void {
  printObject({ ...toOperatorUserJson(user, systemClock()), ...more }, options);
}

async function passwordFromStdin(command: Command): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  const fault = passwordFault(password);
  if (fault !== null) command.error(`error: the password ${fault}`);
  return password;
}

function email(value: string): string {
  if (!isEmailAddress(value)) throw new InvalidArgumentError('It must be an email address.');
  return value.toLowerCase();
}

function username(value: string): string {
  if (!isUsername(value)) throw new InvalidArgumentError('It must be 3 to 32 letters, digits, dots, dashes and underscores.');
  return value;
}

function newPassword(value: string): string {
  const fault = passwordFault(value);
  if (fault !== null) throw new InvalidArgumentError(`It ${fault}.`);
  return value;
}

function tier(value: string): Tier {
  const found = tiers.find((name) => name === value.toUpperCase());
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${tiers.join(', ')}.`);
  return found;
}

function expires(value: string): number | 'never' {
  if (value === 'never') return value;
  const time = parseTime(value);
  if (time === null) throw new InvalidArgumentError('It must be a date, a time as in 2030-01-31T12:00:00Z, or never.');
  return time;
}
