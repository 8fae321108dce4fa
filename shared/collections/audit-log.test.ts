import { expect, test } from '@jest/globals';
import type { AuditSource } from '../domain/audit/audit-entry.ts';
import { write, type Collection, type Document } from '../ports/documents.ts';
import { newId, newUser } from '../testing/builders.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { auditBy, auditEntries, auditOrigins, bySystem, eraseAuditOrigins } from './audit-log.ts';
import {
  findAuditActor,
  findAuditEntries,
  findAuditNames,
  type AuditFilter,
} from '../operations/audit/find-audit-entries.ts';
import { users } from './users.ts';

const engine = await useTestEngine();

const byAccount = (actor: string): AuditSource => ({
  actor,
  through: 'login',
  credentialId: newId(),
  address: '192.0.2.1',
  userAgent: 'curl/8',
});

/** Records the deletion of a key. */
async function record(by: AuditSource, at: number, key = newId()): Promise<void> {
  await engine.documents.commit(
    auditBy(
      { makeId: newId, clock: () => at },
      by,
    )({ action: 'api_key.deleted', subject: { id: key, name: 'k' }, details: {} }),
  );
}

/** Reads all entries page by page. */
async function all(filter: AuditFilter, limit: number): Promise<{ at: number; id: string }[]> {
  const found: { at: number; id: string }[] = [];
  for (let after: AuditFilter['after'] = undefined; ;) {
    const page = await findAuditEntries(engine.documents, { ...filter, after }, limit);
    found.push(...page.entries.map(({ entry }) => ({ at: entry.at, id: entry.id })));
    if (page.next === null) return found;
    after = page.next;
  }
}

test('pages continue after the last entry, newest first, even among many entries of one millisecond', async () => {
  const actor = newId();
  const times = [
    ...Array.from({ length: 450 }, () => 5_000),
    ...Array.from({ length: 30 }, (_, place) => 4_990 + place),
  ];
  const audit = (at: number) =>
    auditBy(
      { makeId: newId, clock: () => at },
      { ...bySystem, actor },
    )({ action: 'api_key.deleted', subject: { id: newId() }, details: {} });
  await engine.documents.commit(times.flatMap(audit));
  const expected = (
    await engine.documents.find(auditEntries, { index: 'byActor', equals: { actor }, descending: true, limit: 1_000 })
  ).map(({ at, id }) => ({ at, id }));
  expect(expected).toHaveLength(480);
  for (const limit of [1_000, 480, 7]) expect(await all({ actor }, limit)).toEqual(expected);
  expect(await all({ actor, since: 4_995, until: 5_000 }, 100)).toEqual(
    expected.filter(({ at }) => at >= 4_995 && at <= 5_000),
  );
});

test('a subject filter matches the subject and its contained resources, and filters combine', async () => {
  const [owner, topicId] = [newId(), newId()];
  const audit = (at: number) => auditBy({ makeId: newId, clock: () => at }, byAccount(owner));
  for (const at of [1, 3, 5]) {
    const [held, token] = [
      audit(at)({ action: 'api_key.revoked', subject: { id: topicId }, details: {} }),
      audit(at + 1)({
        action: 'topic_token.deleted',
        subject: { id: newId(), name: 't' },
        within: { type: 'topic', id: topicId },
        details: {},
      }),
    ];
    await engine.documents.commit([...held, ...token]);
  }
  expect((await all({ subject: topicId }, 2)).map(({ at }) => at)).toEqual([6, 5, 4, 3, 2, 1]);
  expect((await all({ subject: topicId, action: 'topic_token.deleted', actor: owner }, 1)).map(({ at }) => at)).toEqual(
    [6, 4, 2],
  );
  expect(await all({ subject: topicId, actor: newId() }, 10)).toEqual([]);
});

test('finds actors by ID or address, and names them while the account exists', async () => {
  const user = await engine.documents.insert(users, newUser());
  await record(byAccount(user.id), 10);
  expect(await findAuditActor(engine.documents, user.email.toUpperCase())).toBe(user.id);
  expect(await findAuditActor(engine.documents, 'operator')).toBe('operator');
  await expect(findAuditActor(engine.documents, 'nobody@example.org')).rejects.toThrow('User not found');
  const { entries } = await findAuditEntries(engine.documents, { actor: user.id }, 10);
  expect(await findAuditNames(engine.documents, entries)).toEqual(new Map([[user.id, user.username]]));
  await engine.documents.remove(users, user.id);
  expect(await findAuditNames(engine.documents, entries)).toEqual(new Map());
});

test('deleting an account removes its origins but no entries', async () => {
  const [gone, other] = [newId(), newId()];
  for (const by of [gone, gone, other]) await record(byAccount(by), 20);
  const attempt = auditBy(
    { makeId: newId, clock: () => 21 },
    { ...byAccount('anonymous'), through: 'nothing', credentialId: null },
  );
  await engine.documents.commit(
    attempt({
      action: 'login.failed',
      subject: { id: gone },
      details: { method: 'password', reason: 'wrong_password', further_unrecorded: false },
    }),
  );
  expect(await eraseAuditOrigins(engine.documents, gone)).toBe(3);
  const left = async (actor: string) =>
    (await findAuditEntries(engine.documents, { actor }, 10)).entries.map(({ origin }) => origin?.address ?? null);
  expect(await left(gone)).toEqual([null, null]);
  expect(await left(other)).toEqual(['192.0.2.1']);
  expect(await engine.documents.count(auditOrigins, { index: 'byUser', equals: { userId: gone } })).toBe(0);
});

test('rejects any change of an entry', async () => {
  const actor = newId();
  await record(byAccount(actor), 30);
  const [{ id } = { id: '' }] = (await findAuditEntries(engine.documents, { actor }, 1)).entries.map(
    ({ entry }) => entry,
  );
  for (const collection of [auditEntries, auditOrigins] as unknown as Collection<Document & { at: number }>[]) {
    await expect(engine.documents.update(collection, { id, version: 1 }, { at: 1 })).rejects.toThrow(TypeError);
    await expect(engine.documents.commit([write.update(collection, { id, version: 1 }, {})])).rejects.toThrow(
      TypeError,
    );
    await expect(engine.documents.raise(collection, [id], { field: 'at', to: 99 })).rejects.toThrow(TypeError);
  }
});
