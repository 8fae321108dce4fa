import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import type { Bus } from '../../ports/bus/bus.ts';

/** Connection counts over several nodes. */
export function describeConnections(
  openTwo: () => Promise<[Bus, Bus]>,
  place: () => { advanceTime(ms: number): Promise<void> },
): void {
  test('sums the last announced connections over the other nodes', async () => {
    const [one, two] = await openTwo();
    const [topic, other] = [randomUUID(), randomUUID()];
    await one.announceConnections(
      'node-1',
      new Map([
        [topic, 3],
        [other, 1],
      ]),
    );
    await two.announceConnections('node-2', new Map([[topic, 4]]));
    await eventually(async () => expect(await one.countConnections(topic, 'none')).toBe(7));
    expect(await one.countConnections(topic, 'node-1')).toBe(4);
    expect(await two.countConnections(topic, 'node-2')).toBe(3);
    await two.announceConnections('node-2', new Map([[other, 5]]));
    await eventually(async () => expect(await one.countConnections(topic, 'none')).toBe(3));
    await eventually(async () => expect(await two.countConnections(other, 'none')).toBe(6));
    await one.announceConnections('node-1', new Map());
    await eventually(async () => expect(await two.countConnections(topic, 'none')).toBe(0));
    expect(await one.countConnections(randomUUID(), 'none')).toBe(0);
  });

  test('announces counts again after they expired', async () => {
    const [one, two] = await openTwo();
    const [topic, other] = [randomUUID(), randomUUID()];
    const counts = new Map([
      [topic, 3],
      [other, 1],
    ]);
    await one.announceConnections('node-1', counts);
    await place().advanceTime(15_100);
    await one.announceConnections('node-1', new Map([...counts, [other, 2]]));
    await eventually(async () => expect(await two.countConnections(topic, 'none')).toBe(3));
    await eventually(async () => expect(await two.countConnections(other, 'none')).toBe(2));
  });

  test('removes a dead node 15 seconds after its last announcement', async () => {
    const [living, dying] = await openTwo();
    const topic = randomUUID();
    await dying.announceConnections('dead', new Map([[topic, 10]]));
    await living.announceConnections('alive', new Map([[topic, 1]]));
    await place().advanceTime(7_500);
    expect(await living.countConnections(topic, 'none')).toBe(11);
    await living.announceConnections('alive', new Map([[topic, 2]]));
    await place().advanceTime(7_600);
    await eventually(async () => expect(await living.countConnections(topic, 'none')).toBe(2), { timeoutMs: 2_000 });
  });
}
