import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Access tokens by server address. */
type Credentials = Readonly<Record<string, string>>;

/** `$XDG_CONFIG_HOME/tocsin/credentials.json`, by default in `~/.config`. XDG ignores relative paths. */
export function credentialsFile(): string {
  const { XDG_CONFIG_HOME } = process.env;
  const base =
    XDG_CONFIG_HOME !== undefined && isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), '.config');
  return join(base, 'tocsin', 'credentials.json');
}

/** Returns the access token that `tocsin login` stored for the server. */
export function readCredential(url: string): string | undefined {
  const credentials = readAll();
  return Object.hasOwn(credentials, url) ? credentials[url] : undefined;
}

/** Stores the access token in a file that only this user can read. */
export function storeCredential(url: string, token: string): void {
  writeAll({ ...readAll(), [url]: token });
}

/** Removes the access token of the server. Deletes the file with the last one. Returns false if none was stored. */
export function removeCredential(url: string): boolean {
  const { [url]: removed, ...rest } = readAll();
  if (removed === undefined) return false;
  if (Object.keys(rest).length === 0) rmSync(credentialsFile());
  else writeAll(rest);
  return true;
}

function readAll(): Credentials {
  let text: string;
  try {
    text = readFileSync(credentialsFile(), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as Credentials;
  } catch {
    throw new Error(`${credentialsFile()} is not valid JSON: delete it and run \`tocsin login\``);
  }
}

/** Replaces the file atomically, so that a concurrent command never reads half of it. */
function writeAll(credentials: Credentials): void {
  const file = credentialsFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}
