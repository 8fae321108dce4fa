import { get } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { route } from './route.ts';
import { useRouteServer } from './route-server.fixtures.ts';

/** As many short names as fit into the headers that Node accepts. */
const names = 16_742;
const rounds = 5;
/** With a search through all parameters for each name, the ratio is about 2,700. */
const ratioMax = 50;

const open = route({
  id: 'open',
  method: 'GET',
  path: '/open',
  summary: '',
  audience: 'uncounted',
  query: z.object({ a: z.string().optional() }),
  success: { status: 200, schema: null, description: '' },
  handle: () => Promise.resolve({ status: 200, body: {} }),
});
let cpuUs = 0;
const url = useRouteServer(open, {
  maxHeaderSize: 128 * 1024,
  onCpuTime: (us) => {
    cpuUs += us;
  },
});

async function statusOf(query: string): Promise<number> {
  const [answer] = await once(get(`${url()}/open?${query}`), 'response');
  await text(answer);
  return answer.statusCode as number;
}

/** The CPU time of the handling code for some requests, in microseconds, and their statuses. */
async function costOf(query: string): Promise<{ cpuUs: number; statuses: number[] }> {
  await statusOf(query);
  cpuUs = 0;
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round += 1) statuses.push(await statusOf(query));
  return { cpuUs, statuses };
}

test('refuses a query with 16,742 names for little more than it costs to read one long parameter', async () => {
  const flood = Array.from({ length: names }, (_, n) => n.toString(36)).join('&');
  const one = await costOf(`a=${'x'.repeat(flood.length - 2)}`);
  const many = await costOf(flood);
  expect(many.cpuUs / one.cpuUs).toBeLessThan(ratioMax);
  expect([new Set(one.statuses), new Set(many.statuses)]).toEqual([new Set([200]), new Set([400])]);
});
