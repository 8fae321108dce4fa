import { randomUUID } from 'node:crypto';
import { accessTable, type Access } from './access-table.ts';
import { readOperations, send, type Attack, type Operation, type Target } from './target.ts';

/**
 * What a caller is to the objects of the requests: `nothing` sends no credential, `invalid` one that does not count,
 * and the others a valid one of a stranger.
 */
export type RoleKind = 'nothing' | 'invalid' | 'login' | 'key' | 'topic-token';

export interface Role {
  readonly name: string;
  readonly kind: RoleKind;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Matrix {
  /** In addition to those that need no account. */
  readonly roles?: readonly Role[];
  /** The values of path parameters: names and IDs of objects to which no role has access. Random by default. */
  readonly values?: Readonly<Record<string, string>>;
}

const commonRoles: readonly Role[] = [
  { name: 'no credential', kind: 'nothing', headers: {} },
  { name: 'malformed token', kind: 'invalid', headers: { Authorization: 'Bearer x.y.z' } },
  { name: 'unknown key', kind: 'invalid', headers: { 'X-API-Key': `toc_${'a'.repeat(43)}` } },
  { name: 'unknown topic token', kind: 'invalid', headers: { 'X-Topic-Token': `tk_${'a'.repeat(43)}` } },
  { name: 'wrong scheme', kind: 'invalid', headers: { Authorization: 'Digest x' } },
];

/** Called last, because a valid login that calls them is not valid afterwards. */
const endOfLogins = new Set(['POST /auth/logout', 'DELETE /auth/sessions']);

/**
 * Calls every operation of the OpenAPI document as every role that has no access, and compares the status with the
 * access table. An operation without a row in the table is a fault, and so is a row without an operation.
 */
export function roleMatrix({ roles = [], values = {} }: Matrix = {}): Attack {
  return {
    name: 'route × role matrix',
    async run(target) {
      const operations = await readOperations(target);
      const known = new Set(operations.map(({ name }) => name));
      const faults = [
        ...operations.filter(({ name }) => accessTable[name] === undefined).map(({ name }) => `${name} has no row`),
        ...Object.keys(accessTable)
          .filter((name) => !known.has(name))
          .map((name) => `the row ${name} has no operation`),
      ];
      let calls = 0;
      const ends = ({ name }: Operation) => Number(endOfLogins.has(name));
      for (const operation of operations.toSorted((a, b) => ends(a) - ends(b))) {
        const access = accessTable[operation.name];
        if (access === undefined) continue;
        for (const role of [...commonRoles, ...roles]) {
          const { status } = await call(target, operation, { role, values });
          calls += 1;
          const allowed = allowedStatus(access, role.kind, operation.path.includes('{'));
          if (!allowed(status)) faults.push(`${operation.name} as ${role.name}: ${status}`);
        }
      }
      return { figures: { operations: operations.length, calls }, faults };
    },
  };
}

const upgrade = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function call(
  target: Target,
  { method, path }: Operation,
  { role, values }: { readonly role: Role; readonly values: Readonly<Record<string, string>> },
) {
  // The document merges the operations by name and by ID under one path.
  const isById = /^(PATCH|DELETE) \/api\/topics\/\{\w+\}$/.test(`${method} ${path}`);
  const valueOf = (name: string) => values[isById ? 'topic_id' : name] ?? randomUUID();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return send(target, {
    method,
    path: filled,
    headers: {
      ...(path.endsWith('/ws') ? upgrade : {}),
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...role.headers,
    },
    ...(hasBody ? { body: '{}' } : {}),
  });
}

/** A server under load may refuse with 429 or 503. */
const isBusy = (status: number): boolean => status === 429 || status === 503;
const within =
  (...all: number[]) =>
  (status: number): boolean =>
    all.includes(status) || isBusy(status);

/** Returns which status a role may get that has no access to the object of the path. */
function allowedStatus(access: Access, kind: RoleKind, hasObject: boolean): (status: number) => boolean {
  const isHandled = (status: number) => status > 0 && (status < 500 || status === 503);
  if (access === 'open') return isHandled;
  if (access === 'listing')
    return kind === 'invalid' ? within(401) : kind === 'topic-token' ? within(200, 403) : within(200);
  if (access === 'topic')
    // Without a topic in the path, the request names none, which is reported before the access.
    return kind === 'invalid' ? within(401) : hasObject ? within(401, 403, 404) : within(400, 401, 403, 404, 422, 426);
  // Without ADMIN_TOKEN, the operator's paths do not exist.
  if (access === 'operator') return within(401, 403, 404);
  if (kind === 'invalid') return within(401);
  // An object that does not exist is reported first.
  if (kind === 'nothing') return hasObject ? within(401, 404) : within(401);
  if (kind === 'topic-token') return within(403);
  if (access === 'login' && kind === 'key') return within(403);
  return hasObject && access !== 'own' ? within(403, 404, 422) : isHandled;
}
