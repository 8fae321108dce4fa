import { Option, type Command } from 'commander';
import { showConfig } from '@tocsin/shared/platform/load-config.ts';
import { readCredential } from '../server/credentials.ts';
import type { Server } from '../server/server.ts';

export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
}

export function withUrlOption(command: Command): Command {
  return command.addOption(
    new Option('--url <url>', 'address of the server (default: HOST and PORT as `tocsin serve` reads them)').env(
      'TOCSIN_URL',
    ),
  );
}

/**
 * Adds the options for the server's address and the credential. Other users of the machine cannot see the environment.
 */
export function withServerOptions(command: Command): Command {
  return withUrlOption(command).addOption(
    new Option(
      '--token <credential>',
      'access token, API key or topic token; visible in process lists, so prefer the environment (default: the credential of `tocsin login`)',
    ).env('TOCSIN_TOKEN'),
  );
}

/**
 * The server and credential of a command. The credential of `tocsin login` is sent only to the server that issued it.
 */
export function serverOf(options: ServerOptions): Server {
  const url = serverUrl(options);
  if (options.token !== undefined) return { url, token: options.token };
  const token = readCredential(url);
  return token === undefined ? { url } : { url, token, isStored: true };
}

/** `--url`, `TOCSIN_URL`, or the address that `tocsin serve` listens on with this environment and `.env`. */
export function serverUrl({ url }: ServerOptions): string {
  if (url !== undefined) return url.replace(/\/+$/, '');
  const config = new Map(showConfig(process.env).map(({ name, value }) => [name, value]));
  return `http://${reachableHost(config.get('HOST') ?? '127.0.0.1')}:${config.get('PORT') ?? '8080'}`;
}

/** A server that listens on all interfaces is reachable on the loopback interface. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
