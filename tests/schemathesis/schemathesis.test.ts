import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { installSchemathesis, missingForSchemathesis } from '../../tools/schemathesis/install-schemathesis.ts';
import { runSchemathesis, type Outcome } from '../../tools/schemathesis/run-schemathesis.ts';
import type { RunConfig } from '../../tools/schemathesis/schemathesis-config.ts';
import { openStackDocuments } from '../acceptance/stack.ts';
import { arrangeTarget, credentialKinds, type Arranged, type CredentialKind } from './arrange-target.ts';
import { anyValues, countDeletions, fixedValues, refusalsOf, type Document } from './plan-run.ts';
import { adminToken, startTarget, type RunningTarget } from './start-target.ts';

const minuteMs = 60_000;
const isLong = process.env['TOCSIN_SCHEMATHESIS'] === 'long';
const examples = isLong ? 200 : 3;
const timeoutMs = isLong ? 60 * minuteMs : 5 * minuteMs;

const missing = missingForSchemathesis();
// On CI what is missing fails the run.
const isSkipped = missing !== null && process.env['CI'] !== 'true';

(isSkipped ? describe.skip : describe)(`Schemathesis${isSkipped ? ` (not run: this machine has no ${missing})` : ''}`, () => {
  let dir: string;
  let target: RunningTarget;
  let store: OperatorStore;
  let document: Document;
  let arranged: Arranged;

  beforeAll(async () => {
    dir = await installSchemathesis((line) => process.stderr.write(`${line}\n`));
    target = await startTarget();
    store = await openStackDocuments(target.stack);
    document = await (await fetch(`${target.stack.urls[0]}/openapi.json`)).json() as Document;
    arranged = await arrangeTarget(target.stack, store, { adminToken, things: countDeletions(document) + 1 });
  }, 5 * minuteMs);
  afterAll(async () => {
    await store?.close();
    await target?.close();
  }, minuteMs);

  const run = (config: Pick<RunConfig, 'turns' | 'fixed' | 'values'>, phases: readonly string[]) => runSchemathesis(
    dir, { url: target.stack.urls[0]!, config: { ...config, refusals: refusalsOf(document) } }, { phases, examples, timeoutMs },
  );
  const turnsOf = (kinds: readonly CredentialKind[]) => kinds.map((name) => ({ name, headers: arranged.credentials[name] }));

  test('a row of requests, each made of what the last one answered, meets no fault and nothing that the document does not have', async () => {
    expectNoFault(await run({ turns: turnsOf(['a login (TEAM)']), values: anyValues(arranged.things) }, ['stateful']));
  }, timeoutMs);

  // Last, since it deletes what was arranged.
  test('nor does any request to any operation, with each kind of credential in its turn', async () => {
    // Whoever may do most gets furthest, and so has every other turn.
    const turns = turnsOf(credentialKinds.flatMap((kind) => [kind, 'a login (TEAM)'] as const));
    const outcome = await run({ turns, fixed: fixedValues(document, arranged.things) }, ['examples', 'coverage', 'fuzzing']);
    expectNoFault(outcome);
    const untried = Object.entries(outcome.answers).flatMap(([operation, byKind]) =>
      credentialKinds.filter((kind) => byKind[kind] === undefined).map((kind) => `${operation} with ${kind}`));
    expect(untried).toEqual([]);
  }, timeoutMs);
});

function expectNoFault(outcome: Outcome): void {
  if (outcome.exitCode !== 0) throw new Error(outcome.output);
  expect([outcome.failures, outcome.errors]).toEqual([[], []]);
  expect(outcome.operations.tested).toBe(outcome.operations.total);
}
