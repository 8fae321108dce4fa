import { send, whileHealthy, type Attack, type Target } from './target.ts';

/** The sizes of the query: 8 KB passes nginx, 63 KB passes Node. */
const queryBytes = [8_000, 63_000];
const answerMsMax = 250;
const healthMsMax = 500;
/** The fastest response counts: other work on the machine can delay some, but a costly query is slow each time. */
const tries = { min: 3, max: 6 };

/** Sends queries with thousands of parameters to open routes. They must be refused immediately. */
export const parameterFloods: Attack = {
  name: 'parameter floods',
  async run(target) {
    const paths = ['/api/topics', '/auth/google/login', '/nowhere/json', '/sse', '/api/messages/search'];
    const { result, healthMs } = await whileHealthy(target, async () => {
      const replies = [];
      for (const path of paths)
        for (const bytes of queryBytes)
          for (const form of [distinct, repeated]) replies.push(await sendRepeatedly(target, `${path}?${form(bytes)}`));
      return replies;
    });
    const slowest = Math.round(Math.max(...result.map(({ ms }) => ms)));
    const accepted = result.flatMap(({ statuses }) => statuses).filter((status) => status < 400 || status >= 500);
    const faults = [
      ...(accepted.length === 0 ? [] : [`queries were answered with ${[...new Set(accepted)].join(', ')}`]),
      ...(slowest <= answerMsMax ? [] : [`a query took ${slowest} ms`]),
      ...(healthMs <= healthMsMax ? [] : [`/health/live took ${healthMs} ms`]),
    ];
    return { figures: { queries: result.length, slowestMs: slowest, healthMs }, faults };
  },
};

/** Resolves with the time of the fastest response, and the statuses of all. */
async function sendRepeatedly(target: Target, path: string): Promise<{ ms: number; statuses: number[] }> {
  let ms = Infinity;
  const statuses = [];
  while (statuses.length < tries.min || (ms > answerMsMax && statuses.length < tries.max)) {
    const reply = await send(target, { path });
    ms = Math.min(ms, reply.ms);
    statuses.push(reply.status);
  }
  return { ms, statuses };
}

/** `a0&a1&…` */
function distinct(bytes: number): string {
  let query = '';
  for (let count = 0; query.length < bytes; count += 1) query += `a${count.toString(36)}&`;
  return query;
}

const repeated = (bytes: number): string => 'limit=1&'.repeat(Math.floor(bytes / 8));
