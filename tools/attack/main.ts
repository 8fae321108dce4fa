import { parseArgs } from 'node:util';
import { fuzzedRequests } from './fuzzed-requests.ts';
import { runAttacks, sharedAttacks } from './run-attacks.ts';
import { pipelinedReads } from './pipelined-requests.ts';
import { roleMatrix } from './role-matrix.ts';

const usage = `Usage: npm run attack -- --url URL [--key KEY] [--quick] [--seed N]

Attacks a running installation: slow sockets, pipelined requests, parameter floods, forged tokens, the route × role
matrix, and 100,000 fuzzed requests. With the API key of --key, it also pipelines reads of a new topic, and two thirds
of the fuzzed requests have the key, so that they pass the first check. --quick opens fewer slow sockets and no half
bodies. Run it only against your own test installation, with RATE_LIMITS=off: otherwise most responses are 429. Exit
code 1 if the server failed, 2 for wrong options.
`;

const requests = 100_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      quick: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
    },
  });
  const url = URL.parse(values.url ?? '');
  if (url === null) throw new Error('--url: must be the address of the API, such as http://127.0.0.1:8080');
  const credentials = values.key === undefined ? [] : [{ 'X-API-Key': values.key }];
  const fuzz = fuzzedRequests({ count: requests, seed: Number(values.seed), credentials });
  const attacks = [...sharedAttacks, ...credentials.map(pipelinedReads), roleMatrix(), fuzz];
  const target = { url, isQuick: values.quick };
  return (await runAttacks(target, attacks, (line) => process.stdout.write(`${line}\n`))) ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
