import { afterAll, beforeAll } from '@jest/globals';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import { arrangeByHttp } from './arrange-by-http.ts';
import { arrangeByStore } from './arrange-by-store.ts';
import type { Arranger, PersonOptions } from './arranger.ts';
import { Client, testStack, type Account, type Answer } from './stack.ts';

/** Requests with one credential in short form. */
export interface Caller {
  send(method: string, path: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
  head(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  put(path: string, json?: unknown): Promise<Answer>;
  patch(path: string, json?: unknown): Promise<Answer>;
  delete(path: string, json?: unknown): Promise<Answer>;
  /** Publishes a text. */
  publish(topic: string, text?: string): Promise<Answer>;
}

export interface Person extends Caller, Account {
  readonly id: string;
}

/** Creates the accounts, callers and teams of a test on the shared stack. */
export interface StackUse {
  person(options?: PersonOptions): Promise<Person>;
  /** A caller that sends these headers; anonymous without headers. */
  caller(headers?: Record<string, string>): Caller;
  /** The operator of the installation. */
  operator(): Caller;
  /** A team of the owner with the members; resolves with its ID. */
  team(owner: Person, members?: readonly (readonly [Person, Role])[]): Promise<string>;
  /** Adds a person to a team. */
  join(teamId: string, owner: Person, member: readonly [Person, Role]): Promise<void>;
  /** Changes the verified email address of the person's account. */
  changeEmail(person: Person, email: string): Promise<void>;
}

function callerOf(client: Client, headers: Record<string, string> = {}): Caller {
  const send = (method: string) => (path: string, json?: unknown) =>
    client.call(method, path, json === undefined ? { headers } : { json, headers });
  return {
    send: (method, path) => send(method)(path),
    get: send('GET'),
    head: send('HEAD'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    publish: (topic, text = 'hello') => client.call('POST', `/${topic}`, { text, headers }),
  };
}

/** Gives the tests of a file the shared stack, or the deployed installation that `TEST_BASE_URL` names. */
export function useStack(): StackUse {
  let arranger: Arranger;
  beforeAll(async () => {
    arranger = testStack().isDeployed ? arrangeByHttp() : await arrangeByStore();
  });
  afterAll(() => arranger.close());
  return {
    async person(options = {}) {
      const account = await arranger.account(options);
      return { ...account, id: account.user.id, ...callerOf(account.client) };
    },
    caller: (headers) => callerOf(new Client(), headers),
    operator: () => callerOf(new Client(testStack().env['ADMIN_TOKEN'])),
    team: (owner, members = []) => arranger.team(owner, members),
    join: (teamId, owner, member) => arranger.join(teamId, owner, member),
    changeEmail: (person, email) => arranger.changeEmail(person, email),
  };
}
