import { randomBytes, randomUUID } from 'node:crypto';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { openDocuments, type OperatorStore } from '@tocsin/shared/open-engine.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { whenAvailable } from '@tocsin/shared/testing/when-available.ts';
import { users } from '@tocsin/shared/collections/users.ts';

/** The running installation that the tests talk to. */
export interface TestStack {
  readonly engine: 'embedded' | 'cluster';
  /**
   * Whether the tests did not start it: only its public interface is available, and `env` names what the tests need.
   */
  readonly isDeployed?: boolean;
  /** One address per API node. */
  readonly urls: readonly string[];
  /** The API nodes' processes, in the same order. */
  readonly pids: readonly number[];
  /** The directory of the emails that it sent; `DATA_DIR/mail` by default. */
  readonly emailDir?: string;
  /** The servers' configuration. */
  readonly env: Readonly<Record<string, string>>;
}

/** The stack that the global setup started. */
export function testStack(): TestStack {
  const text = process.env['TOCSIN_TEST_STACK'];
  if (text === undefined)
    throw new Error('no stack is running: run these tests by `npm test -- --part acceptance-embedded`');
  return JSON.parse(text) as TestStack;
}

/** Opens the stack's document store, to create states that no endpoint creates. Close it in afterAll. */
export async function openStackDocuments(stack: Pick<TestStack, 'env'> = testStack()): Promise<OperatorStore> {
  const config = loadConfig({ ...stack.env }, '/nonexistent');
  return whenAvailable(() => openDocuments(config, openLogger('test', 'silent')));
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined for an empty body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  /** Which API node; the first by default. */
  readonly node?: number;
}

/**
 * An address that no other test client has. IPv6, because each /64 has its own rate limit: some tests use thousands per
 * minute, so that random private IPv4 addresses would occasionally collide.
 */
export function newAddress(): string {
  const [, ...groups] = randomBytes(8).toString('hex').match(/.{4}/g)!;
  return `fd${randomBytes(1).toString('hex')}:${groups.join(':')}::1`;
}

/** A client with its own address, so that tests do not share rate limits. */
export class Client {
  readonly address = newAddress();
  readonly token: string | undefined;
  readonly #urls: readonly string[];

  /** `urls` is the installation to talk to, the shared stack by default. */
  constructor(token?: string, urls: readonly string[] = testStack().urls) {
    this.token = token;
    this.#urls = urls;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const urls = this.#urls;
    const token = options.token ?? this.token;
    const body = options.json === undefined ? options.text : JSON.stringify(options.json);
    const response = await fetch(urls[(options.node ?? 0) % urls.length]! + path, {
      method,
      redirect: 'manual',
      headers: {
        'X-Forwarded-For': this.address,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(options.json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : parsed(text) };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The body of a successful response, for the set-up of a test. Throws for any other response. */
export async function made(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** An account for a test: verified, with a login. */
export interface Account {
  readonly user: User;
  readonly email: string;
  readonly password: string;
  readonly client: Client;
}

const makeId = idSource(() => Date.now());
const password = 'correct horse battery';
/** Its bcrypt hash with the lowest cost, because these tests do not cover password guessing. */
const passwordHash = '$2b$04$kmNehcMpv2yaBZbQp/iMCOx2hEIqP9/wbo.zGS9KkLOZJ9Dml2oIC';

/** Stores a verified account and logs it in. */
export async function createAccount(
  store: OperatorStore,
  options: { tier?: Tier; urls?: readonly string[] } = {},
): Promise<Account> {
  const username = `user-${randomBytes(6).toString('hex')}`;
  const email = `${username}@example.org`;
  const user = await store.documents.insert(users, {
    id: makeId(),
    email,
    username,
    usernameKey: username,
    passwordHash,
    avatarUrl: null,
    tier: options.tier ?? 'FREE',
    tierExpiresAt: null,
    additionalMembers: 0,
    isVerified: true,
    wasVerified: true,
    isActive: true,
    createdAt: Date.now(),
    lastLogin: null,
    termsAcceptedAt: Date.now(),
    oauthProvider: null,
  });
  return {
    user,
    email,
    password,
    client: new Client(await accessTokenOf({ email, password }, options.urls), options.urls),
  };
}

/** Logs an account in and resolves with its access token. */
export async function accessTokenOf(
  json: { email: string; password: string },
  urls?: readonly string[],
): Promise<string> {
  const { status, body } = await new Client(undefined, urls).call('POST', '/auth/login', { json });
  if (status !== 200) throw new Error(`login: ${status} ${JSON.stringify(body)}`);
  return body.access_token as string;
}

/** A unique topic name. */
export function newTopicName(): string {
  return `t-${randomUUID()}`;
}

/** Creates a topic of the account and resolves with the topic object. */
export async function createTopic(
  account: Account,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; name: string }> {
  const created = await account.client.call('POST', '/api/topics', { json: { name: newTopicName(), ...fields } });
  if (created.status !== 201) throw new Error(`topic: ${created.status} ${JSON.stringify(created.body)}`);
  return created.body as { id: string; name: string };
}
