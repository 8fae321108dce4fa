import { Option, type Command } from 'commander';

/** The server that a command talks to over HTTP, and as whom. */
export interface ServerOptions {
  readonly url: string;
  /** Absent where nobody in particular is asking. */
  readonly token?: string;
}

/** Adds the options that say where the server is. A credential in the environment is not seen by whoever lists processes. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'where the server is').env('TOCSIN_URL').default('http://127.0.0.1:8080'))
    .addOption(
      new Option('--token <credential>', 'an access token, API key or topic token; better in the environment').env(
        'TOCSIN_TOKEN',
      ),
    );
}
