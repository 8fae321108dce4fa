import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { readMemoryMb } from './read-memory-mb.ts';
import { readOperations, send, type Attack, type Operation, type SentRequest } from './target.ts';

const concurrency = 64;
/** With a large heap, garbage is collected only every 100,000 requests. */
const growthMbDefault = 200;
/** Of the target's memory, at equal distances. */
const samples = 40;
/** Longer than the server caches its metrics. */
const collectedMs = 150;

/** Linear congruential, so that a seed repeats the requests. */
function randomSource(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const odd = [
  '',
  '0',
  '-1',
  '9'.repeat(40),
  'NaN',
  'null',
  'true',
  '[]',
  '%00',
  '%zz',
  '%2e%2e%2f',
  '..',
  "' OR 1=1 --",
  '$where',
  '{"$gt":""}',
  '😀',
  '\u202e',
  'a'.repeat(5_000),
  '__proto__',
  'constructor',
  '2026-13-45T99:99:99Z',
  '<script>',
];
const headerNames = [
  'Accept',
  'Range',
  'If-Modified-Since',
  'Content-Encoding',
  'Last-Event-ID',
  'X-Title',
  'X-Priority',
  'X-Tags',
  'X-Idempotency-Key',
  'Authorization',
  'Cookie',
  'X-Forwarded-For',
  'Expect',
  'Upgrade',
];
const contentTypes = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/json; charset=utf-7',
  '',
];

/** Operations whose documented response is 503 while a provider is not configured or a store is unreachable. */
const mayBeUnavailable = new Set([
  '/auth/google/login',
  '/auth/google/callback',
  '/auth/apple/mobile',
  '/api/devices/{device_id}/test',
  '/health/ready',
]);

/** They end the login that calls them, and with it the access of later requests. */
const endLogins = new Set(['/auth/logout', '/auth/sessions']);

export interface Fuzz {
  readonly count: number;
  readonly seed?: number;
  readonly growthMbMax?: number;
  /** Lets the target collect its garbage, which otherwise hides or imitates a small leak. Called before each sample. */
  readonly collectGarbage?: () => void;
  /** The headers of valid logins and API keys, which two thirds of the requests send. */
  readonly credentials?: readonly Readonly<Record<string, string>>[];
  /** Names and IDs of objects of an account, by path parameter. Half of the requests that delete nothing use them. */
  readonly values?: Readonly<Record<string, string>>;
}

/**
 * Sends requests of random methods, paths, queries, headers and bodies. Each must get a response, none of them an
 * undocumented 5xx, and memory must stay flat.
 */
export function fuzzedRequests({
  count,
  seed = 1,
  growthMbMax = growthMbDefault,
  collectGarbage,
  ...access
}: Fuzz): Attack {
  return {
    name: 'fuzzed requests',
    async run(target) {
      const random = randomSource(seed);
      const operations = await readOperations(target);
      const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
      const faults: string[] = [];
      const statuses = new Map<number, number>();
      let sent = 0;
      const samplesMb: (number | null)[] = [];
      const sample = async () => {
        if (collectGarbage !== undefined) {
          collectGarbage();
          await pause(collectedMs);
        }
        samplesMb.push((await readMemoryMb(target.url))?.used ?? null);
      };
      const sendUpTo = async (end: number) => {
        while (sent < end) {
          sent += 1;
          const one = randomRequest(random, { ...access, operations });
          const { status, text } = await send(target, { ...one, agent });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (!isDocumented(status, one))
            faults.push(`${one.method} ${one.path.slice(0, 120)}: ${status} ${text.slice(0, 120)}`);
        }
      };
      for (let part = 1; part <= samples; part += 1) {
        const end = Math.round((count * part) / samples);
        await Promise.all(Array.from({ length: concurrency }, () => sendUpTo(end)));
        await sample(); // without requests in progress, whose memory varies
      }
      agent.destroy();
      const addedMb = growth(samplesMb);
      if ((addedMb ?? 0) > growthMbMax) faults.push(`memory grew by ${addedMb} MB`);
      const perStatus = [...statuses].sort(([a], [b]) => a - b).map((pair) => pair.join(': '));
      return { figures: { requests: sent, seed, addedMb, statuses: perStatus.join(', ') }, faults };
    },
  };
}

/**
 * The difference between the lowest memory of the last fifth and that of the second quarter: the first one fills caches
 * and pools, and the lowest values are those after a garbage collection.
 */
function growth(samplesMb: readonly (number | null)[]): number | null {
  const known = samplesMb.filter((mb) => mb !== null);
  const lowest = (from: number, to: number) => Math.min(...known.slice(known.length * from, known.length * to));
  return known.length < samples / 2 ? null : Math.round((lowest(0.8, 1) - lowest(0.25, 0.5)) * 10) / 10;
}

interface RandomRequest extends SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The path in the OpenAPI document. */
  readonly template: string;
}

/** The server may end the connection of an upgrade or an unknown expectation without a response. */
function isDocumented(status: number, { template, headers }: RandomRequest): boolean {
  if (status === 0) return 'Upgrade' in headers || 'Expect' in headers;
  return status < 500 || (status === 503 && mayBeUnavailable.has(template));
}

function randomRequest(
  random: (below: number) => number,
  {
    operations,
    credentials = [],
    values = {},
  }: Pick<Fuzz, 'credentials' | 'values'> & { readonly operations: readonly Operation[] },
): RandomRequest {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const value = () => (random(3) === 0 ? encodeURI(pick(odd)).slice(0, 4_000) : random(2 ** 31).toString(36));
  const { method: documented, path: template } = pick(operations);
  const method = random(4) === 0 ? pick(methods) : documented;
  const known = method !== 'DELETE' && random(2) === 0 ? values : {};
  let path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? value().replaceAll('/', ''));
  if (random(10) === 0) path += pick(['/', '//', '/..', ';a=b', '%2f', '.json']);
  const parameters = Array.from(
    { length: random(4) },
    () => `${pick(['limit', 'cursor', 'since', 'q', 'topics', 'token', value()])}=${value()}`,
  );
  const headers: Record<string, string> = {};
  for (let index = random(3); index > 0; index -= 1)
    headers[pick(headerNames)] = pick(odd)
      .replaceAll(/[^\x20-\x7e]/g, '?')
      .slice(0, 1_000);
  if (credentials.length > 0 && !endLogins.has(template) && random(3) > 0) Object.assign(headers, pick(credentials));
  const body = ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : randomBody(random, pick);
  if (body !== undefined) headers['Content-Type'] = pick(contentTypes);
  // An upgrade or an expectation of another kind ends the connection.
  if (headers['Upgrade'] !== undefined) headers['Connection'] = 'close';
  return {
    method,
    template,
    path: parameters.length === 0 ? path : `${path}?${parameters.join('&')}`,
    headers,
    ...(body === undefined ? {} : { body }),
  };
}

function randomBody(random: (below: number) => number, pick: <T>(from: readonly T[]) => T): string {
  const keys = [
    'email',
    'password',
    'topic',
    'message',
    'title',
    'tags',
    'priority',
    'name',
    'scopes',
    'token',
    'since_id',
    '__proto__',
  ];
  const make = (depth: number): unknown => {
    const kind = random(depth > 3 ? 4 : 6);
    if (kind === 0) return pick(odd);
    if (kind === 1) return pick([0, -1, 1e308, 2 ** 53, 0.1]);
    if (kind === 2) return null;
    if (kind === 3) return random(2) === 0;
    if (kind === 4) return Array.from({ length: random(4) }, () => make(depth + 1));
    return Object.fromEntries(Array.from({ length: random(5) }, () => [pick(keys), make(depth + 1)]));
  };
  const text = JSON.stringify(make(0));
  return random(5) === 0 ? text.slice(0, random(text.length + 1)) : text;
}
