import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { actorKinds, parseActor, storedActor } from './actor.ts';

test('returns the stored actor, also if its name contains colons', () => {
  const name = fc.string({ unit: fc.constantFrom(':', 'a', ' ', 'é') });
  const accountId = fc.option(fc.uuid(), { nil: null });
  const kind = fc.constantFrom(...actorKinds);
  fc.assert(
    fc.property(fc.record({ kind, name, accountId }), (actor) => expect(parseActor(storedActor(actor))).toEqual(actor)),
  );
});

test.each(actorKinds)('returns a stored %s without a name', (kind) => {
  const actor = { kind, name: null, accountId: null };
  expect(parseActor(storedActor(actor))).toEqual(actor);
});

test.each(['', 'robot', 'robot:1:name'])('returns null for the unknown kind of %j', (stored) => {
  expect(parseActor(stored)).toBeNull();
});
