import { expect, test } from '@jest/globals';
import { write } from '../../ports/documents.ts';
import { newId, newTopic } from '../../testing/builders.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { topics } from '../../collections/topics.ts';
import { paginateTopics } from './paginate-topics.ts';

const { documents } = await useTestEngine();

test('returns every topic once, from the given owner, for any number of topics per owner', async () => {
  const owners = Array.from({ length: 8 }, newId).sort();
  const made = owners.flatMap((ownerId, index) =>
    Array.from({ length: index === 3 ? 1_300 : 150 }, () => newTopic(ownerId, { createdAt: 1 })),
  );
  for (let at = 0; at < made.length; at += 500)
    await documents.commit(made.slice(at, at + 500).map((topic) => write.insert(topics, topic)));
  for (const from of [undefined, owners[3], `${owners[3]}~`]) {
    const seen: string[] = [];
    for await (const page of paginateTopics(documents, from)) seen.push(...page.map(({ id }) => id));
    const expected = made.filter(({ ownerId }) => ownerId >= (from ?? '')).map(({ id }) => id);
    expect(seen.sort()).toEqual(expected.sort());
  }
});
