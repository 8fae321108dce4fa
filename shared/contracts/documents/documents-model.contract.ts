import { expect } from '@jest/globals';
import fc from 'fast-check';
import { DocumentsModel, ModelViolation } from './documents-model.ts';
import { newThing, things, type Thing } from '../../testing/thing.ts';
import { StaleVersion, write, type Changes, type Documents, type Query, type Write } from '../../ports/documents.ts';

/** So few values that operations conflict: every document, key and version is used repeatedly. */
const ids = ['1', '2', '3', '4', '5'].map((digit) => `model-${digit}`);
const text = fc.constantFrom('model-a', 'model-b', 'model-é', 'model-😀', 'model-\uffee');
const fields = {
  name: text,
  email: fc.option(text, { freq: 2 }),
  team: fc.option(text, { freq: 2 }),
  rank: fc.integer({ min: -1, max: 2 }),
  score: fc.option(fc.constantFrom(0.5, -2, 1e300)),
  isActive: fc.boolean(),
  madeAt: fc.integer({ min: 0, max: 3 }),
  // Converts the value through its text, because JSON has no negative zero.
  extra: fc.option(fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
};
const id = fc.constantFrom(...ids);
/** Returns the version to use: mostly the stored one. */
const versionDelta = fc.constantFrom(0, 0, 0, 0, 1, -1);

type MakeWrite = (versionOf: (id: string) => number) => Write;

const changes: fc.Arbitrary<Changes<Thing>> = fc.record(fields, { requiredKeys: [] });
const oneWrite: fc.Arbitrary<MakeWrite> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(id, fc.record(fields)).map(
      ([at, given]): MakeWrite =>
        () =>
          write.insert(things, newThing(at, given)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(id, versionDelta, changes).map(
      ([at, off, set]): MakeWrite =>
        (versionOf) =>
          write.update(things, { id: at, version: versionOf(at) + off }, set),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(id, fields.rank).map(
      ([at, rank]): MakeWrite =>
        () =>
          write.increment(things, at, { rank }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(id, fc.option(versionDelta)).map(
      ([at, off]): MakeWrite =>
        (versionOf) =>
          write.remove(things, at, off === null ? undefined : versionOf(at) + off),
    ),
  },
);
const required: fc.Arbitrary<MakeWrite> = fc.tuple(id, versionDelta).map(
  ([at, off]): MakeWrite =>
    (versionOf) =>
      write.require(things, { id: at, version: versionOf(at) + off }),
);

const page = {
  descending: fc.boolean(),
  limit: fc.integer({ min: 0, max: 6 }),
  offset: fc.integer({ min: 0, max: 2 }),
};
const bound = <T>(value: fc.Arbitrary<T>) => fc.record({ from: value, to: value }, { requiredKeys: [] });
const queries = fc
  .oneof(
    fc.tuple(fc.constant('byName'), fc.record({ name: text }), bound(fields.madeAt)),
    fc.tuple(fc.constant('byName'), fc.record({ name: text, madeAt: fields.madeAt }), fc.constant({})),
    fc.tuple(fc.constant('byActive'), fc.record({ name: text, isActive: fc.boolean() }), bound(fields.rank)),
    fc.tuple(fc.constant('byActive'), fc.record({ name: text }), fc.constant({})),
    fc.tuple(fc.constant('byTeam'), fc.record({ team: text }), bound(text)),
    fc.tuple(fc.constant('teamRank'), fc.record({ team: text }), bound(fields.rank)),
    fc.tuple(fc.constant('email'), fc.record({ email: text }), fc.constant({})),
    // Queries without a first field would also match documents of other tests.
    fc.tuple(fc.constant('byTeam'), fc.constant({}), fc.constant({ from: 'model-', to: 'model-\u{10ffff}' })),
    fc.tuple(fc.constant('byName'), fc.constant({}), fc.constant({ from: 'model-', to: 'model-\u{10ffff}' })),
    fc.tuple(fc.constant('email'), fc.constant({}), fc.constant({ from: 'model-', to: 'model-\u{10ffff}' })),
  )
  .chain(([index, equals, bounds]) =>
    fc.record(page).map((cut): Query<Thing> => ({ index, equals, ...bounds, ...cut })),
  );

type Step = { writes: readonly MakeWrite[]; isCommit: boolean } | { query: Query<Thing> };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: oneWrite.map((one): Step => ({ writes: [one], isCommit: false })) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof({ weight: 4, arbitrary: oneWrite }, { weight: 1, arbitrary: required }), {
        minLength: 1,
        maxLength: 4,
      })
      .map((writes): Step => ({ writes, isCommit: true })),
  },
  { weight: 3, arbitrary: queries.map((query): Step => ({ query })) },
);

/** Runs random sequences of operations on the store and on the model, and compares every result. */
export async function agreesWithModel(
  documents: Documents,
  runs = Number(process.env.MODEL_RUNS ?? 60),
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await documents.commit(ids.map((one) => write.remove(things, one)));
      const model = new DocumentsModel();
      for (const one of steps) await compareStep(documents, model, one);
      for (const at of ids) expect(await documents.get(things, at)).toEqual(model.get(at));
    }),
    { numRuns: runs, endOnFailure: false },
  );
}

async function compareStep(documents: Documents, model: DocumentsModel, one: Step): Promise<void> {
  if ('query' in one) {
    expect(await documents.find(things, one.query)).toEqual(model.find(things, one.query));
    expect(await documents.count(things, one.query)).toBe(model.count(things, one.query));
    return;
  }
  const writes = one.writes.map((make) => make((at) => model.get(at)?.version ?? 1));
  const expected = outcomeOf(() => (one.isCommit ? model.commit(writes) : model.write(writes[0]!)));
  const actual = await (one.isCommit ? documents.commit(writes) : writeAlone(documents, writes[0]!)).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in expected)) expect(actual).toEqual({ value: expected.value });
  else if (expected.error instanceof StaleVersion) expect(actual).toEqual({ error: expected.error });
  else if (expected.error instanceof ModelViolation) {
    expect(actual).toMatchObject({ error: { name: 'UniqueKeyViolation', collection: 'things' } });
    expect(expected.error.keys).toContain((actual as { error: { key: string } }).error.key);
  } else throw expected.error;
}

function outcomeOf(work: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

/** Runs the write as a single operation; a versioned removal exists only in commits. */
function writeAlone(documents: Documents, one: Write): Promise<unknown> {
  switch (one.kind) {
    case 'insert':
      return documents.insert(one.collection, one.document);
    case 'update':
      return documents.update(one.collection, one, one.set);
    case 'increment':
      return documents.increment(one.collection, one.id, one.by);
    case 'remove':
      return one.version === undefined
        ? documents.remove(one.collection, one.id)
        : documents.commit([one]).then(() => true);
    case 'accumulate':
    case 'require':
      return documents.commit([one]);
  }
}
