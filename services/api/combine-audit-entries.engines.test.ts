import { afterAll, describe, expect, test } from '@jest/globals';
import { auditBy } from '@tocsin/shared/collections/audit-log.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { combineAuditEntries } from '@tocsin/shared/operations/audit/combine-audit-entries.ts';

const own = closers();
afterAll(() => own.closeAll());
const { engine } = await openOwnEngine(own);

describe(`combined audit entries, ${engineUnderTest}`, () => {
  test('the eleventh identical entry of a minute starts a count, which all nodes share', async () => {
    const minute = 1_800_000_000_000;
    let now = minute;
    const nodes = [1, 2].map(() => combineAuditEntries(engine.documents, () => now));
    const [actor, topicId] = [newId(), newId()];
    const record = (node: number, name: string) =>
      nodes[node]!.commit(
        auditBy(
          { makeId: newId, clock: () => now },
          { actor, through: 'login', credentialId: null, address: '192.0.2.1', userAgent: null },
        )({ action: 'topic.held', subject: { id: topicId, name }, details: {} }),
      );
    const counts = async (name: string) => {
      const { entries } = await findAuditEntries(engine.documents, { subject: topicId }, 1_000);
      const found = entries.filter(({ entry }) => entry.subjectName === name);
      expect(found.every(({ origin }) => origin?.address === '192.0.2.1')).toBe(true);
      return found.map(({ entry }) => entry.count!).sort((a, b) => a - b);
    };
    for (let round = 0; round < 15; round += 1) await Promise.all([0, 1].map((node) => record(node, 'often')));
    await record(0, 'once');
    expect(await counts('often')).toEqual([...Array<number>(20).fill(1), 10]);
    expect(await counts('once')).toEqual([1]);
    now += 60_000;
    await record(0, 'often');
    expect(await counts('often')).toEqual([...Array<number>(21).fill(1), 10]);
  });
});
