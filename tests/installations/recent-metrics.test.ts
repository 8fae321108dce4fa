import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const operator = stack.caller({ Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']!}` });

test('the operator sees the rates of the process and the depths of the installation', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  // The rate needs a sample that is five seconds old.
  await eventually(
    async () => {
      expect((await owner.publish(name)).status).toBe(200);
      const { status, body } = await operator.get('/admin/metrics/recent');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        process: { version: expect.stringMatching(/^\d+\.\d+\.\d+$/), engine: testStack().engine },
        interval_seconds: 15,
      });
      expect(body.samples.at(-1)).toMatchObject({
        publishes_per_second: expect.any(Number),
        // On the cluster, another process sends the pushes.
        pushes_per_second: testStack().engine === 'embedded' ? expect.any(Number) : null,
        fanout_lag_records: expect.any(Number),
        notifier_lag_records: expect.any(Number),
        queued_jobs: expect.any(Number),
      });
      expect(body.samples.at(-1).publishes_per_second).toBeGreaterThan(0);
      expect(body.queues).toContainEqual(
        expect.objectContaining({ queue: 'push-normal', waiting: expect.any(Number) }),
      );
    },
    { timeoutMs: 20_000 },
  );
});
