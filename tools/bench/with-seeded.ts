import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, accessTokenOf, openStackDocuments, type Account } from '../../tests/support/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import { runGenerator } from './run-generator.ts';
import type { SeedLoad, SeedResult } from './seed-messages.ts';
import { removeRun, startStack, type TocsinOptions } from './start-tocsin.ts';

export interface ReadingOptions extends Omit<TocsinOptions, 'topics'> {
  /** Directory that keeps filled stores for the next run; undefined: removes them. */
  readonly storeDir: string | undefined;
  /** Selects the kinds of read whose name contains this text. */
  readonly read: string;
}

/** The owner owns all topics and is subscribed to each; the subscriber is subscribed to some. */
const readers = ['owner', 'subscriber'] as const;
type OfReaders<T> = Readonly<Record<(typeof readers)[number], T>>;

export interface SeededStack {
  readonly stack: Stack;
  /** Access tokens of the readers. */
  readonly tokens: OfReaders<string>;
  readonly seeded: SeedResult;
}

/** Data about a filled store that its readers need. */
interface Filled {
  readonly logins: OfReaders<{ readonly email: string; readonly password: string }>;
  readonly seeded: SeedResult;
}

const seedSecondsMax = 3_600;

/** Calls `use` with a running installation with this many messages: a kept one or a new one. */
export async function withSeeded(
  size: { readonly messages: number; readonly topics: number },
  options: ReadingOptions,
  use: (target: SeededStack) => Promise<void>,
): Promise<void> {
  const { storeDir, engines } = options;
  const kept =
    storeDir === undefined
      ? undefined
      : join(storeDir, `${engines === undefined ? 'embedded' : 'cluster'}-${size.messages}-${size.topics}`);
  const dir = kept ?? mkdtempSync(join(tmpdir(), 'tocsin-bench-'));
  const filledFile = join(dir, 'filled.json');
  // A store that was not filled completely is not kept.
  const isKept = () => kept !== undefined && existsSync(filledFile);
  try {
    const stack = await startStack(options, dir);
    try {
      if (!existsSync(filledFile)) writeFileSync(filledFile, JSON.stringify(await fillStores(stack, size)));
      const { logins, seeded } = JSON.parse(readFileSync(filledFile, 'utf8')) as Filled;
      await use({
        stack,
        seeded,
        tokens: {
          owner: await accessTokenOf(logins.owner, stack.urls),
          subscriber: await accessTokenOf(logins.subscriber, stack.urls),
        },
      });
    } finally {
      await stack.stop();
      if (!isKept()) await removeRun(stack);
    }
  } finally {
    if (!isKept()) rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Fills the stores of a running installation, see `SeedResult`. Stops the servers meanwhile: an embedded store belongs
 * to one process.
 */
export async function fillStores(
  stack: Stack,
  size: { readonly messages: number; readonly topics: number },
): Promise<Filled> {
  const store = await openStackDocuments(stack);
  const [owner, subscriber] = await Promise.all(
    readers.map(() => createAccount(store, { tier: 'TEAM', urls: stack.urls })),
  ).finally(() => store.close());
  for (const server of stack.servers) await server.stop();
  const load: SeedLoad = { ownerId: owner!.user.id, subscriberId: subscriber!.user.id, ...size };
  const seeded = await runGenerator<SeedResult>('seed-messages.ts', load, {
    secondsMax: seedSecondsMax,
    env: stack.env,
  });
  for (const server of stack.servers) await server.start();
  const login = ({ email, password }: Account) => ({ email, password });
  return { seeded, logins: { owner: login(owner!), subscriber: login(subscriber!) } };
}
