import { isEmailAddress, isUsername } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { newPasswordFault } from '@tocsin/shared/operations/accounts/new-password-fault.ts';
import { tiers, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { readInput } from './read-input.ts';

/** The email address of an account. */
export const emailArgument = () =>
  new Argument('<email>').argParser((value: string) => {
    if (!isEmailAddress(value)) throw new InvalidArgumentError('It must be an email address.');
    return value.toLowerCase();
  });

export function username(value: string): string {
  if (!isUsername(value))
    throw new InvalidArgumentError('It must be 3 to 32 letters, digits, dots, dashes and underscores.');
  return value;
}

export function tier(value: string): Tier {
  const found = tiers.find((name) => name === value.toUpperCase());
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${tiers.join(', ')}.`);
  return found;
}

export interface PasswordOptions {
  readonly password?: string;
  readonly passwordStdin?: boolean;
}

/** Adds the two ways to give a password. */
export function withPasswordOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--password <text>', 'visible in process lists, so prefer --password-stdin')
        .argParser(newPassword)
        .conflicts('passwordStdin'),
    )
    .option('--password-stdin', 'read the password from standard input');
}

/** Returns the given password, or generates one that the caller must print. */
export async function passwordOf(
  options: PasswordOptions,
  command: Command,
): Promise<{ password: string; isMade: boolean }> {
  const given = options.passwordStdin === true ? await passwordFromStdin(command) : options.password;
  return { password: given ?? makeSecret(), isMade: given === undefined };
}

async function passwordFromStdin(command: Command): Promise<string> {
  const password = (await readInput()).replace(/\r?\n$/, '');
  const fault = newPasswordFault(password);
  if (fault !== null) command.error(`error: the password ${fault}`);
  return password;
}

function newPassword(value: string): string {
  const fault = newPasswordFault(value);
  if (fault !== null) throw new InvalidArgumentError(`It ${fault}.`);
  return value;
}
