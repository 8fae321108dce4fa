import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { installSchemathesis, missingForSchemathesis } from '../../tools/schemathesis/install-schemathesis.ts';
import { runSchemathesis, type Outcome, type RunSize } from '../../tools/schemathesis/run-schemathesis.ts';
import { OpenApiChecker } from '../conformance/openapi-checker.ts';
import type { RunConfig } from '../../tools/schemathesis/schemathesis-config.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { openStackDocuments } from '../support/stack.ts';
import { arrangeTarget, credentialKinds, type Arranged } from './arrange-target.ts';
import {
  anyValues,
  countDeletions,
  fixedValues,
  labelsOf,
  lenientOperations,
  refusalsOf,
  sameTurn,
  turnsOf,
  type Document,
} from './plan-run.ts';
import { adminToken, startTarget, type RunningTarget } from './start-target.ts';

const minuteMs = 60_000;

/** `npm run fuzz` sets the minutes; without it each operation is tested once with every form in its schema. */
const minutes = Number(process.env['TOCSIN_FUZZ_MINUTES'] ?? 0);
const seed = Number(process.env['TOCSIN_FUZZ_SEED'] ?? (minutes > 0 ? randomInt(2 ** 31) : 20_260_101));
const phases = ['examples', 'coverage', 'fuzzing'];
const size: RunSize =
  minutes > 0
    ? { phases, examples: 100, seed, seconds: minutes * 40, timeoutMs: (minutes + 10) * minuteMs }
    : { phases, examples: 2, seed, timeoutMs: 20 * minuteMs };
/** The rest of the minutes. */
const rowsSize: RunSize = { ...size, phases: ['stateful'], seconds: minutes * 20 };

describeUnlessMissing('Schemathesis', missingForSchemathesis(), () => {
  let dir: string;
  let target: RunningTarget;
  let store: OperatorStore;
  let document: Document;
  let arranged: Arranged;

  beforeAll(async () => {
    dir = await installSchemathesis((line) => process.stderr.write(`${line}\n`));
    target = await startTarget();
    store = await openStackDocuments(target.stack);
    document = (await (await fetch(`${target.stack.urls[0]}/openapi.json`)).json()) as Document;
    arranged = await arrangeTarget(target.stack, store, { adminToken, things: countDeletions(document) + 1 });
  }, 10 * minuteMs);
  afterAll(async () => {
    await store?.close();
    await target?.close();
  }, minuteMs);

  const run = (config: Pick<RunConfig, 'turns' | 'fixed'>, inSize: RunSize) =>
    runSchemathesis(
      dir,
      {
        url: target.stack.urls[0]!,
        config: {
          ...config,
          values: anyValues(arranged.things),
          refusals: refusalsOf(document),
          lenient: lenientOperations,
        },
      },
      inSize,
    );

  if (minutes > 0) {
    test(
      `a sequence of requests built from earlier responses conforms to the document (seed ${seed})`,
      async () => {
        expectNoFault(await run({ turns: sameTurn(document, arranged.credentials) }, rowsSize));
      },
      rowsSize.timeoutMs + minuteMs,
    );
  }

  // Last, because it deletes the arranged objects.
  test(
    `every operation conforms to the document for any input and credential (seed ${seed})`,
    async () => {
      const { things, credentials } = arranged;
      const fixed = fixedValues(document, things);
      const outcome = await run({ turns: turnsOf(document, credentials), fixed }, size);
      expectNoFault(outcome);
      // An operation with almost no input gets fewer requests than there are kinds of credentials.
      const checker = new OpenApiChecker(document as ConstructorParameters<typeof OpenApiChecker>[0]);
      for (const { label, method, path, operationId } of labelsOf(document)) {
        expect(Object.keys(outcome.answers[label] ?? {})).not.toEqual([]);
        for (const kind of credentialKinds.filter((one) => outcome.answers[label]?.[one] === undefined)) {
          const ownPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => fixed[operationId]![`path.${name}`]!);
          const faults = await faultsOf(checker, target.stack.urls[0]!, {
            method,
            path: ownPath,
            headers: credentials[kind],
          });
          expect([label, kind, faults]).toEqual([label, kind, []]);
        }
      }
    },
    size.timeoutMs + minuteMs,
  );
});

async function faultsOf(
  checker: OpenApiChecker,
  url: string,
  { method, path, headers }: { method: string; path: string; headers: Record<string, string> },
) {
  const answer = await fetch(url + path, { method, headers, redirect: 'manual' });
  const text = answer.headers.get('content-type') === 'application/json' ? await answer.text() : undefined;
  await answer.body?.cancel().catch(() => undefined); // a stream
  return checker.faults({ method, path, status: answer.status, headers: answer.headers, text });
}

function expectNoFault(outcome: Outcome): void {
  const requests = Object.values(outcome.answers).flatMap((ofOne) =>
    Object.values(ofOne).flatMap((counts) => Object.values(counts)),
  );
  process.stderr.write(`Schemathesis made ${requests.reduce((sum, count) => sum + count, 0)} requests\n`);
  if (outcome.exitCode !== 0) throw new Error(outcome.output);
  expect([outcome.failures, outcome.errors]).toEqual([[], []]);
}
