import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { buildClient } from '@tocsin/tools/client/build-client.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

/** The shortest lifetime: the first message of each topic expires before a consumer reads it. */
const ttl = '30s';
const patience = { timeoutMs: 60_000, intervalMs: 100 };
const root = join(import.meta.dirname, '../..');
/** The programs in docs/consuming.md, by the language of their blocks. */
const commands = {
  ts: [process.execPath, 'consumer.mjs'],
  python: ['python3', 'consumer.py'],
  sh: ['sh', 'consumer.sh'],
};
type Language = keyof typeof commands;
const languages = Object.keys(commands) as Language[];

interface OwnedTopic {
  readonly id: string;
  readonly name: string;
  readonly owner: Person;
}

const stack = useStack();
let modules: string;
let busy: Server;
/** A topic per language, with an owner of its own because of the publish budget. */
const topics = new Map<Language, OwnedTopic>();
const running = new Set<Program>();

/** A program of the page in a directory of its own. */
class Program {
  readonly #dir = mkdtempSync(join(tmpdir(), 'tocsin-consumer-'));
  readonly #command: readonly string[];
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;

  constructor(block: string, command: readonly string[], env: Record<string, string>) {
    const page = readFileSync(join(root, 'docs/consuming.md'), 'utf8');
    const code = new RegExp(`\`\`\`${block}\\n([\\s\\S]*?)\`\`\``).exec(page);
    if (code === null) throw new Error(`docs/consuming.md has no ${block}`);
    writeFileSync(join(this.#dir, command[1]!), code[1]!);
    symlinkSync(modules, join(this.#dir, 'node_modules'));
    this.#command = command;
    this.#env = env;
    running.add(this);
  }

  start(): void {
    const [program, ...args] = this.#command;
    this.#child = spawn(program!, args, {
      cwd: this.#dir,
      env: { PATH: process.env['PATH'], ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    this.#child.stderr!.on('data', (text: Buffer) => appendFileSync(join(this.#dir, 'errors.txt'), text));
  }

  /** Kills the program and what it started. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    process.kill(-child.pid!, 'SIGKILL');
    await gone;
  }

  /** The lines of a file that it wrote. */
  lines(file: 'archive.txt' | 'errors.txt'): string[] {
    try {
      return readFileSync(join(this.#dir, file), 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** Starts a server in front of the stack that refuses every third request. */
async function openBusyServer(): Promise<Server> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (requests % 3 === 0)
      return void response.writeHead(requests % 2 === 0 ? 429 : 503, { 'Retry-After': '1' }).end('{"detail": "Busy"}');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url = '/', headers } = request;
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const kept = { Authorization: headers.authorization ?? '', 'Content-Type': headers['content-type'] ?? '' };
      fetch(testStack().urls[0]! + url, { method, headers: kept, ...body })
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const publish = async ({ owner, name }: OwnedTopic, text: string, headers: Record<string, string> = {}) => {
  const { status, body } = await owner.client.call('POST', `/${name}`, { text, headers });
  expect(status).toBe(200);
  return `${body.offset} ${body.message}`;
};

async function makeTopic(): Promise<OwnedTopic> {
  const owner = await stack.person({ tier: 'TEAM' });
  return { ...(await createTopic(owner, { access_level: 'private' })), owner };
}

beforeAll(async () => {
  modules = mkdtempSync(join(tmpdir(), 'tocsin-modules-'));
  buildClient(join(modules, '@tocsin/client'));
  symlinkSync(join(root, 'node_modules/kafkajs'), join(modules, 'kafkajs'));
  busy = await openBusyServer();
  for (const language of languages) {
    const topic = await makeTopic();
    topics.set(language, topic);
    await publish(topic, 'too old', { TTL: ttl });
    await publish(topic, 'first');
  }
  await eventually(
    async () => {
      for (const { name, owner } of topics.values())
        expect((await owner.get(`/api/topics/${name}/log`)).body.records).toHaveLength(1);
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
});
afterAll(async () => {
  for (const program of running) await program.remove();
  busy.closeAllConnections();
  busy.close();
  rmSync(modules, { recursive: true, force: true });
});

/**
 * Kills the program in each round while records arrive, then lets it finish. Resolves with the records that it was to
 * process.
 */
async function runWithKills(program: Program, topic: OwnedTopic, rounds: number): Promise<string[]> {
  const published: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = program.lines('archive.txt').length;
    program.start();
    const sending = Promise.all(
      Array.from({ length: 25 }, async (_, index) => published.push(await publish(topic, `${round}-${index}`))),
    );
    await eventually(() => program.lines('archive.txt').length > before, patience).catch((error: unknown) => {
      throw new Error(program.lines('errors.txt').join('\n'), { cause: error });
    });
    await program.kill();
    await sending;
  }
  program.start();
  for (let last = 0; last < 5; last += 1) published.push(await publish(topic, `last-${last}`));
  return published;
}

const byOffset = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);

test.each(languages)(
  'the consumer in the docs in %s processes every record after being killed, logs what expired, and retries',
  async (language) => {
    const topic = topics.get(language)!;
    const { owner } = topic;
    const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
    const body = { name: 'archive', permissions: ['read'] };
    const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, body)).body;
    const { port } = busy.address() as AddressInfo;
    const env = { TOCSIN_URL: `http://127.0.0.1:${port}`, TOPIC: topic.name, TOKEN: token };
    const program = new Program(`${language} consumer`, commands[language], env);
    const published = await runWithKills(program, topic, 3);

    const wanted = [`${records[0].offset} first`, ...published.sort(byOffset)];
    await eventually(() => expect(new Set(program.lines('archive.txt'))).toEqual(new Set(wanted)), patience);
    expect([...new Set(program.lines('archive.txt'))]).toEqual(wanted);
    const client = new Client(token);
    await eventually(async () => {
      const { body: consumer } = await client.call('GET', `/api/topics/${topic.name}/consumers/archive`);
      expect(consumer).toMatchObject({ lag: 0, offset: Number.parseInt(wanted.at(-1)!, 10) + 1 });
    }, patience);
    expect(program.lines('errors.txt').join(' ')).toMatch(new RegExp(`lost.*${records[0].offset}.*expired`));
  },
  180_000,
);

// The embedded engine has no Kafka.
if (testStack().engine === 'cluster')
  test('the consumer group in the docs processes every message after being killed', async () => {
    const topic = await makeTopic();
    const { KAFKA_BROKERS = '', KAFKA_TOPIC = '' } = testStack().env;
    const env = { KAFKA_BROKERS, KAFKA_TOPIC, TOPIC_ID: topic.id };
    const program = new Program('js kafka-consumer', [process.execPath, 'consumer.mjs'], env);
    const published = await runWithKills(program, topic, 1);
    await eventually(
      () => expect(new Set(program.lines('archive.txt')).size).toBe(published.length),
      // The broker waits 30 seconds for the killed member.
      { timeoutMs: 120_000, intervalMs: 250 },
    );
    const texts = (lines: readonly string[]) => [...new Set(lines)].map((line) => line.split(' ')[1]).sort();
    expect(texts(program.lines('archive.txt'))).toEqual(texts(published));
    expect(program.lines('errors.txt').filter((line) => line.startsWith('lost'))).toEqual([]);
  }, 240_000);
