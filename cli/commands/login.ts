import { Command, Option } from 'commander';
import { printObject, type PrintOptions } from '../operator/operator-store.ts';
import { prompt } from '../options/prompt.ts';
import { readInput } from '../options/read-input.ts';
import { serverUrl, withUrlOption, type ServerOptions } from '../options/server-options.ts';
import { credentialsFile, removeCredential, storeCredential } from '../server/credentials.ts';
import { ask } from '../server/server.ts';

interface LoginOptions extends PrintOptions, ServerOptions {
  readonly password?: string;
  readonly passwordStdin?: true;
}

/** `tocsin login`: stores an access token for the commands that are clients of a server. */
export function loginCommand(): Command {
  return withUrlOption(new Command('login'))
    .description('log in to a server and store the credential for publish, subscribe, log and topic create')
    .addHelpText(
      'after',
      `
The credential is stored in $XDG_CONFIG_HOME/tocsin/credentials.json (default ~/.config), readable only by you.
--token and TOCSIN_TOKEN take precedence over it.

Examples:
  tocsin login ada@example.org
  tocsin login ada@example.org --url https://tocsin.example.org --password-stdin < password.txt`,
    )
    .argument('[email]', 'email address of the account; without it the command asks')
    .addOption(
      new Option('--password <text>', 'visible in process lists, so prefer the prompt or --password-stdin').conflicts(
        'passwordStdin',
      ),
    )
    .option('--password-stdin', 'read the password from standard input')
    .option('--json', 'print JSON')
    .action(async (given: string | undefined, options: LoginOptions) => {
      const url = serverUrl(options);
      const email = given ?? (await prompt('Email', { instead: 'the email address as an argument' }));
      const body = JSON.stringify({ email, password: await passwordOf(options) });
      const headers = { 'Content-Type': 'application/json' };
      const answer = await ask({ url }, '/auth/login', { method: 'POST', headers, body });
      const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { email: string } };
      storeCredential(url, token);
      printObject({ server: url, email: user.email, file: credentialsFile() }, options);
    });
}

/** `tocsin logout`: removes the stored credential; the access token itself expires after a day. */
export function logoutCommand(): Command {
  return withUrlOption(new Command('logout'))
    .description('remove the credential that login stored for a server')
    .option('--json', 'print JSON')
    .action((options: PrintOptions & ServerOptions) => {
      const url = serverUrl(options);
      if (!removeCredential(url)) throw new Error(`Not logged in to ${url}`);
      printObject({ server: url, message: 'Logged out' }, options);
    });
}

async function passwordOf({ password, passwordStdin }: LoginOptions): Promise<string> {
  if (password !== undefined) return password;
  if (passwordStdin === true) return (await readInput()).replace(/\r?\n$/, '');
  return prompt('Password', { isSecret: true, instead: '--password-stdin' });
}
