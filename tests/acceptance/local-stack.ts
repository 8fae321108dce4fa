import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { accessTokens } from '@tocsin/api/access-tokens.ts';
import { startApi } from '@tocsin/api/start-api.ts';
import { startFanout } from '@tocsin/fanout/start-fanout.ts';
import type { Role } from '@tocsin/shared/domain/team.ts';
import type { Tier } from '@tocsin/shared/domain/tiers.ts';
import type { Engine } from '@tocsin/shared/engine.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';
import { loginSessions } from '@tocsin/shared/stores/credentials.ts';
import { teamMembers, teams } from '@tocsin/shared/stores/teams.ts';
import { users } from '@tocsin/shared/stores/users.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface Client {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

export interface Account extends Client {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

export class LocalStack {
  readonly url: string;
  readonly engine: Engine;

  constructor(url: string, engine: Engine) {
    this.url = url;
    this.engine = engine;
  }

  /** A client that sends these headers with everything. */
  client(headers: Record<string, string> = {}): Client {
    const send = (method: string) => async (path: string, body?: unknown): Promise<Answer> => {
      const isText = typeof body === 'string';
      const response = await fetch(this.url + path, {
        method,
        headers: { ...headers, ...(body === undefined || isText ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
        redirect: 'manual',
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    };
    return { get: send('GET'), post: send('POST'), put: send('PUT'), patch: send('PATCH'), delete: send('DELETE') };
  }

  async account(options: { tier?: Tier; tierExpiresAt?: number } = {}): Promise<Account> {
    const { documents, jwtSecrets } = this.engine;
    const now = Date.now();
    const id = randomId();
    const email = `${id}@example.org`;
    await documents.insert(users, {
      id, email, username: id.slice(0, 30), usernameKey: id.slice(0, 30), passwordHash: null, avatarUrl: null,
      tier: options.tier ?? 'FREE', tierExpiresAt: options.tierExpiresAt ?? null, additionalMembers: 0,
      isVerified: true, wasVerified: true, isActive: true, createdAt: now, lastLogin: null, termsAcceptedAt: now,
      oauthProvider: null, oauthSubject: null,
    });
    const session = await documents.insert(loginSessions, {
      id: randomId(), userId: id, refreshHash: randomId(), createdAt: now, expiresAt: now + 86_400_000,
    });
    const token = await accessTokens(jwtSecrets, systemClock).sign(id, session.id);
    return { id, email, token, ...this.client({ Authorization: `Bearer ${token}` }) };
  }

  async team(owner: Account, members: readonly (readonly [Account, Role])[] = [], options: { isActive?: boolean } = {}): Promise<string> {
    const { documents } = this.engine;
    const now = Date.now();
    const id = randomId();
    await documents.insert(teams, {
      id, name: id, displayName: 'A team', description: '', ownerId: owner.id, isActive: options.isActive ?? true,
      createdAt: now, updatedAt: now, deactivatedAt: null,
    });
    for (const [account, role] of [[owner, 'owner'] as const, ...members]) {
      await documents.insert(teamMembers, { id: randomId(), teamId: id, userId: account.id, role, joinedAt: now });
    }
    return id;
  }
}

/** Runs API and fan-out on an embedded engine in this process for the tests of a file. */
export function useLocalStack(): LocalStack {
  const own = closers();
  const stack = new LocalStack('', undefined as never);
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-acceptance-'));
    own.add(() => rm(dataDir, { recursive: true, force: true }));
    const config = loadConfig({ DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }, '/nonexistent');
    const log = openLog('test', 'warn');
    const engine = await openEngine(config, { clock: systemClock, log });
    own.add(() => engine.close());
    const fanout = await startFanout({ engine, log });
    own.add(() => fanout.close());
    const api = await startApi({ engine, config, clock: systemClock, log });
    own.add(() => api.close());
    Object.assign(stack, { url: api.url, engine });
  });
  afterAll(() => own.closeAll());
  return stack;
}

export const uniqueName = (prefix = 't'): string => `${prefix}-${randomId()}`;
