import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { closers, type Closers } from '../../platform/lifecycle.ts';
import { newId, testTime } from '../../contracts/messages/messages.fixtures.ts';
import { filterOf, recordsOfDrafts, searches } from '../../contracts/messages/messages-search.fixtures.ts';
import type { ActivityCount } from '../../ports/messages/message-search.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { describeWithEngines } from '../../testing/describe-with-engines.ts';
import { newTestPlace, openTestEngine } from '../../testing/test-engine.ts';

const hour = 3_600_000;
const runs = Number(process.env['MODEL_RUNS'] ?? 60);

describeWithEngines('for the same messages', (engines) => {
  let own: Closers;
  let stores: Messages[];
  beforeAll(async () => {
    own = closers();
    stores = [];
    for (const place of [newTestPlace(), newTestPlace(engines)]) {
      own.add(() => place.remove());
      const engine = await openTestEngine(place, () => testTime);
      own.add(() => engine.close());
      stores.push(engine.messages);
    }
  });
  afterAll(() => own.closeAll());

  const ofBoth = <T>(ask: (messages: Messages) => Promise<T>): Promise<T[]> => Promise.all(stores.map(ask));
  const inOrder = (counts: readonly ActivityCount[]) =>
    [...counts].sort((a, b) => a.start - b.start || a.priority - b.priority);

  test('both engines return the same search results page by page', async () => {
    let offset = 0;
    await fc.assert(
      fc.asyncProperty(searches, async ({ drafts, asked, limit }) => {
        const topicIds = [newId(), newId(), newId()];
        const records = recordsOfDrafts(drafts, topicIds, offset);
        offset += 100;
        await ofBoth((messages) => messages.apply(records));
        for (const filter of asked.map((one) => filterOf(one, records, topicIds))) {
          for (let at = 0; at < 3 * limit; at += limit) {
            const [embedded, cluster] = await ofBoth((messages) => messages.search(filter, { limit, offset: at }));
            expect(cluster).toEqual(embedded);
          }
          const [embedded, cluster] = await ofBoth((messages) => messages.activity(filter, hour));
          expect(inOrder(cluster!)).toEqual(inOrder(embedded!));
        }
      }),
      { numRuns: runs, endOnFailure: false },
    );
  }, 300_000);
});
