import { expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useAuditLog } from '../support/use-audit-log.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const { logOf } = useAuditLog(stack);

test('repeated identical actions become one entry with a count, and none is lost', async () => {
  const owner = await stack.person();
  const { id, name } = await createTopic(owner);
  const changes = 60;
  for (let index = 0; index < changes; index += 1) {
    const { status } = await owner.patch(`/api/topics/${id}`, { access_level: index % 2 === 0 ? 'private' : 'public' });
    expect(status).toBe(200);
  }
  const entries = await logOf({ subject: id, action: 'topic.access_changed', limit: '1000' });
  const sum = entries.reduce((total: number, { count }: { count: number }) => total + count, 0);
  expect(sum).toBe(changes);
  // Two kinds of changes, ten separate entries and a combined one of each, per minute (at most two here) and node.
  expect(entries.length).toBeLessThanOrEqual(2 * 11 * 2 * 2);
  const combined = entries.filter(({ count }: { count: number }) => count > 1);
  expect(combined.length).toBeGreaterThan(0);
  for (const entry of combined) {
    expect(entry).toMatchObject({
      actor: { type: 'account', id: owner.id },
      subject: { type: 'topic', id, name },
      details: { access_level: expect.stringMatching(/^(public|private)$/) },
    });
    expect(entry.origin.address).toBe(entries[0].origin.address);
  }
});
