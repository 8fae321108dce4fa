import { send, whileHealthy, type Attack, type Target } from './target.ts';

/** The sizes of the query: 8 KB passes nginx, 63 KB passes Node. */
const queryBytes = [8_000, 63_000];
const answerMsMax = 250;
const healthMsMax = 500;
/** Other work on the machine can delay some responses, but costly queries are slow each time. */
const [triesMax, roundsMax] = [5, 3];

/** Sends queries with thousands of parameters to open routes. They must be refused immediately. */
export const parameterFloods: Attack = {
  name: 'parameter floods',
  async run(target) {
    for (let round = 1; ; round += 1) {
      const { figures, wrong, slow } = await flood(target);
      if (wrong.length > 0 || slow.length === 0 || round === roundsMax) return { figures, faults: [...wrong, ...slow] };
    }
  },
};

async function flood(target: Target) {
  const paths = ['/api/topics', '/auth/google/login', '/nowhere/json', '/sse', '/api/messages/search'];
  const forms = [distinct, repeated].flatMap((form) => queryBytes.map(form));
  const { result, healthMs } = await whileHealthy(target, async () => {
    const replies = [];
    for (const query of paths.flatMap((path) => forms.map((form) => `${path}?${form}`))) {
      replies.push(await sendRepeatedly(target, query));
      if (replies.at(-1)!.ms > answerMsMax) break;
    }
    return replies;
  });
  const slowest = Math.round(Math.max(...result.map(({ ms }) => ms)));
  const accepted = result.flatMap(({ statuses }) => statuses).filter((status) => status < 400 || status >= 500);
  const wrong = accepted.length === 0 ? [] : [`queries were answered with ${[...new Set(accepted)].join(', ')}`];
  const slow = [
    ...(slowest <= answerMsMax ? [] : [`a query took ${slowest} ms`]),
    ...(healthMs <= healthMsMax ? [] : [`/health/live took ${healthMs} ms`]),
  ];
  return { figures: { queries: result.length, slowestMs: slowest, healthMs }, wrong, slow };
}

/** Sends the query until a response is fast. Resolves with the time of the fastest response, and all statuses. */
async function sendRepeatedly(target: Target, path: string): Promise<{ ms: number; statuses: number[] }> {
  let ms = Infinity;
  const statuses = [];
  while (ms > answerMsMax && statuses.length < triesMax) {
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
