import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { newDevice, newId } from '@tocsin/shared/testing/builders.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import type { RequestContext } from '../../http/route.ts';
import { testDevice } from './test-device.ts';

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll());

test('a test push that the queue refuses is shown as failed, unless a later one replaced it', async () => {
  const { place, engine } = await openOwnEngine(own);
  const { documents } = engine;
  let beforeRefusal = (): Promise<unknown> => Promise.resolve();
  const add: JobQueue['add'] = async () => {
    await beforeRefusal();
    throw unavailable('Queue');
  };
  const refusing = { ...engine, jobQueue: { ...engine.jobQueue, add } };
  const { load, handle } = testDevice({ config: place.config, engine: refusing, makeId: newId });
  const { id, userId } = await documents.insert(devices, newDevice(newId()));
  const request = async () => {
    const context = { now: Date.now(), params: { device_id: id }, account: () => ({ userId }) };
    const asContext = context as unknown as RequestContext;
    const loaded = await load!(asContext);
    await expect(handle(asContext, { loaded, query: undefined, body: undefined })).rejects.toThrow(
      'Queue is unavailable',
    );
  };
  const lastTest = async () => (await documents.get(devices, id))!.lastTest;

  await request();
  expect(await lastTest()).toMatchObject({ status: 'failed', reason: 'Queue is unavailable' });

  const later = { requestedAt: Date.now() + 1_000, status: 'queued', reason: null, updatedAt: Date.now() } as const;
  beforeRefusal = async () => documents.update(devices, (await documents.get(devices, id))!, { lastTest: later });
  await request();
  expect(await lastTest()).toEqual(later);
});
