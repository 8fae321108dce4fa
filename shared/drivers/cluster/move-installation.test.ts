import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Topic } from '../../domain/topics/topic.ts';
import { exportFrom, importInto } from '../../installation/move-installation.ts';
import type { Manifest } from '../../installation/transfer/manifest.ts';
import { closers, type Closers } from '../../platform/lifecycle.ts';
import { openLogger } from '../../platform/logger.ts';
import type { Config } from '../../platform/load-config.ts';
import { newVapidPrivateKey, vapidPublicKeyOf } from '../../platform/vapid-keys.ts';
import { logConsumers } from '../../collections/log-consumers.ts';
import { retentionRuns } from '../../collections/retention-runs.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';
import type { Engine } from '../../ports/engine.ts';
import { newClaim, newConsumer, newDevice, newId, newMessage, newTopic, newUser } from '../../testing/builders.ts';
import { describeWithEngines } from '../../testing/describe-with-engines.ts';
import { newTestPlace, openTestEngine, publish, type TestPlace } from '../../testing/test-engine.ts';
import { fullExtras } from '../../contracts/messages/messages.fixtures.ts';

const log = openLogger('test', 'silent');

describeWithEngines('an installation', (engines) => {
  let own: Closers;
  let dir: string;
  beforeEach(() => {
    own = closers();
    dir = mkdtempSync(join(tmpdir(), 'tocsin-move-'));
    own.add(() => rmSync(dir, { recursive: true, force: true }));
  });
  afterEach(() => own.closeAll());

  const newPlace = (
    kind: 'embedded' | 'cluster',
    jwtSecrets?: readonly string[],
    keys?: Config['webPush']['keys'],
  ): TestPlace => {
    const place = newTestPlace(kind === 'cluster' ? engines : undefined);
    own.add(() => place.remove());
    const { config } = place;
    const webPush = { ...config.webPush, keys };
    return { ...place, config: { ...config, webPush, jwtSecrets: jwtSecrets ?? config.jwtSecrets } };
  };
  const withEngine = async <T>(place: TestPlace, use: (engine: Engine) => Promise<T>): Promise<T> => {
    const engine = await openTestEngine(place);
    try {
      return await use(engine);
    } finally {
      await engine.close();
    }
  };
  const exportTo = (config: Config, name: string) =>
    exportFrom(config, { dir: join(dir, name), log, report: () => undefined });
  const importFrom = (config: Config, name: string, report: (line: string) => void = () => undefined) =>
    importInto(config, { dir: join(dir, name), log, report });
  const sums = ({ parts }: Manifest) =>
    Object.fromEntries(
      parts.filter(({ name }) => name !== 'topics').map(({ name, rows, digest }) => [name, { rows, digest }]),
    );

  /**
   * Creates topics with messages, an edit and a deletion, a push, a consumer, and values that engines store
   * differently.
   */
  const fill = (place: TestPlace) =>
    withEngine(place, async (engine) => {
      const { documents, messages, deliveries, eventLog } = engine;
      const owner = await documents.insert(users, newUser());
      const made: Topic[] = [];
      for (let at = 0; at < 3; at += 1)
        made.push(await documents.insert(topics, newTopic(owner.id, { partition: at % eventLog.partitions })));
      await documents.update(topics, made[0]!, { description: 'changed once' });
      const first = newMessage(made[0]!.id, {
        message: 'Straße 🚒\u0000 end',
        title: 'ÄÖÜ',
        tags: ['a', 'b'],
        priority: 5,
        markdown: true,
        ...fullExtras,
      });
      const second = newMessage(made[1]!.id);
      for (const [topic, message] of [
        [made[0]!, first],
        [made[1]!, second],
        [made[0]!, newMessage(made[0]!.id)],
        [made[2]!, newMessage(made[2]!.id)],
      ] as const)
        await publish(engine, topic, message);
      const at = Date.now();
      for (const [topic, record] of [
        [
          made[0]!,
          {
            type: 'message_edited',
            timestamp: at,
            message: { ...first, message: 'edited', isEdited: true, editedAt: at },
          },
        ],
        [made[1]!, { type: 'message_deleted', timestamp: at, message: { ...second, isDeleted: true, deletedAt: at } }],
      ] as const) {
        const offset = await eventLog.append(topic.partition, record, topic.name);
        await messages.apply([{ partition: topic.partition, offset, record }]);
      }
      for (let partition = 0; partition < eventLog.partitions; partition += 1)
        await messages.moveWatermark(partition, (await eventLog.end(partition)) - 1);
      const device = newDevice(owner.id);
      await deliveries.claim(
        [newClaim(first.id, { deviceId: device.id, topicId: first.topicId, userId: owner.id, platform: 'expo' })],
        { now: at, staleAfterMs: 1 },
      );
      const consumer = { topicId: made[0]!.id, name: 'archive', offset: 1 };
      await documents.insert(logConsumers, newConsumer(consumer, { ownerId: owner.id, updatedAt: at }));
      await documents.insert(retentionRuns, {
        id: newId(),
        startedBy: 'x',
        startedAt: at,
        endedAt: null,
        upTo: at,
        planned: { 'a.b': [{ $gt: '' }], jsonText: 'x' },
        messages: 0,
        bytes: 0,
        tiers: {},
        topics: [],
        outcome: null,
        interruptions: 0,
        leasedUntil: null,
      } as never);
      return { topicId: made[0]!.id, firstId: first.id };
    });

  test('is unchanged after moves from a file to a cluster, to another cluster, and back, with increasing offsets', async () => {
    const file = newPlace('embedded');
    const { topicId, firstId } = await fill(file);
    const exported = await exportTo(file.config, 'up');
    const { jwtSecrets, vapidPrivateKey } = JSON.parse(readFileSync(join(dir, 'up', 'secrets.json'), 'utf8')) as {
      jwtSecrets: string[];
      vapidPrivateKey: string;
    };
    const vapidKeys = { publicKey: vapidPublicKeyOf(vapidPrivateKey), privateKey: vapidPrivateKey };
    expect(sums(exported)).toMatchObject({
      users: { rows: 1 },
      messages: { rows: 4 },
      changes: { rows: 2 },
      topicFigures: { rows: 3 },
      deliveries: { rows: 1 },
      logConsumers: { rows: 1 },
    });

    const cluster = newPlace('cluster', jwtSecrets);
    await importFrom(cluster.config, 'up');
    const grown = await withEngine(cluster, async (engine) => {
      const topic = (await engine.documents.get(topics, topicId))!;
      expect(await engine.messages.find(firstId)).toMatchObject({ message: 'edited', offset: 0, isEdited: true });
      expect(await engine.messages.watermark(topic.partition)).toBeGreaterThan(5);
      const [offset, end] = [
        await engine.eventLog.append(
          topic.partition,
          { type: 'message', timestamp: Date.now(), message: newMessage(topicId) },
          'x',
        ),
        await engine.eventLog.end(topic.partition),
      ];
      expect(end).toBe(offset + 1);
      return offset;
    });
    expect(grown).toBeGreaterThanOrEqual(2_000_000_000);
    await expect(exportTo(cluster.config, 'behind')).rejects.toThrow('1 records of the log are not in the store yet');

    const other = newPlace('cluster', jwtSecrets, vapidKeys);
    await importFrom(other.config, 'up');
    const moved = await exportTo(other.config, 'back');
    expect(sums(moved)).toEqual(sums(exported));
    expect(new Set(moved.ends).size).toBe(2);
    const back = newPlace('embedded');
    await importFrom(back.config, 'back');
    expect(sums(await exportTo(back.config, 'again'))).toEqual(sums(exported));
    await withEngine(back, async ({ eventLog, ...kept }) => {
      expect(kept).toMatchObject({ jwtSecrets, vapidKeys });
      expect(await eventLog.end(0)).toBeGreaterThan(Math.max(...moved.ends));
      expect(await eventLog.lag('notifier')).toBe(0);
    });
  });

  test('rejects a non-empty, foreign or half-imported installation with a remedy', async () => {
    const file = newPlace('embedded');
    await fill(file);
    await exportTo(file.config, 'up');
    await expect(exportTo(file.config, 'up')).rejects.toThrow('already contains a complete export');
    await expect(importFrom(file.config, 'up')).rejects.toThrow(/is not empty \(log, users, .*messages/);
    const cluster = newPlace('cluster');
    await expect(importFrom(cluster.config, 'up')).rejects.toThrow('JWT_SECRET must include the secret');
    const { jwtSecrets } = JSON.parse(readFileSync(join(dir, 'up', 'secrets.json'), 'utf8')) as {
      jwtSecrets: string[];
    };
    const privateKey = newVapidPrivateKey();
    const other = newPlace('cluster', jwtSecrets, { publicKey: vapidPublicKeyOf(privateKey), privateKey });
    await expect(importFrom(other.config, 'up')).rejects.toThrow('VAPID_PRIVATE_KEY must be the key with which');
    await expect(importFrom(cluster.config, 'nowhere')).rejects.toThrow(
      'manifest.json is missing, which is written last',
    );

    cpSync(join(dir, 'up'), join(dir, 'bent'), { recursive: true });
    const bent = readFileSync(join(dir, 'bent', 'messages.ndjson.gz'));
    bent[bent.length - 1]! ^= 1;
    writeFileSync(join(dir, 'bent', 'messages.ndjson.gz'), bent);
    const target = newPlace('embedded');
    await expect(importFrom(target.config, 'bent')).rejects.toThrow('messages.ndjson.gz differs from the export');

    // An interrupted import prevents opening, the same import completes it, and another import is rejected.
    const stop = (line: string) => {
      if (line.startsWith('changes:')) throw new Error('cut off');
    };
    await expect(importFrom(target.config, 'up', stop)).rejects.toThrow('cut off');
    await expect(openTestEngine(target)).rejects.toThrow('is unfinished: run the same `tocsin import` again');
    cpSync(join(dir, 'up'), join(dir, 'other'), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(dir, 'up', 'manifest.json'), 'utf8')) as Manifest;
    writeFileSync(join(dir, 'other', 'manifest.json'), JSON.stringify({ ...manifest, id: newId() }));
    await expect(importFrom(target.config, 'other')).rejects.toThrow(
      'Another import into this installation is unfinished',
    );
    const lines: string[] = [];
    await importFrom(target.config, 'up', (line) => lines.push(line));
    expect(lines.filter((line) => line.startsWith('users:'))).toEqual([]); // written before the interruption
    await withEngine(target, ({ eventLog }) => eventLog.ping());
  });

  test('rejects moving a cluster created with several partitions to one file', async () => {
    const cluster = newPlace('cluster');
    await fill(cluster);
    await exportTo(cluster.config, 'down');
    await expect(importFrom(newPlace('embedded').config, 'down')).rejects.toThrow(
      /Two partitions have a record at offset 0.*can only be moved to a cluster/,
    );
  });
});
