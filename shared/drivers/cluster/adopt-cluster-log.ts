import { setTimeout as pause } from 'node:timers/promises';
import type { Admin, KafkaJSDeleteGroupsError } from 'kafkajs';
import { logGroups } from '../../domain/log/log-groups.ts';
import { baseAfterRestore } from '../../domain/log/base-after-restore.ts';
import { baseAbove } from '../../domain/log/base-above.ts';
import { withClosers, type Closers } from '../../platform/lifecycle.ts';
import type { AdoptedLog } from '../../ports/adopted-log.ts';
import { checkLog, partitionsSeen } from './check-log.ts';
import { KafkaAdmin } from './kafka/kafka-admin.ts';
import { kafkaClientLog } from './kafka/kafka-client.ts';
import { kafkaConnection } from './kafka/kafka-connection.ts';
import { openKafkaEventLog } from './kafka/kafka-event-log.ts';
import { kafkaGroupId } from './kafka/kafka-group-id.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { baseOf, readSeenLog, replaceLog, type RecordedLog } from './mongo/mongo-log-base.ts';
import type { ClusterStoresOptions } from './open-cluster-stores.ts';

export type AdoptOptions = Pick<ClusterStoresOptions, 'stores' | 'kafka' | 'log'> & {
  /** Whether the store comes from a backup. */
  readonly isRestored: boolean;
};

/**
 * Makes the topic on these brokers the store's log: sets the base of each partition above every assigned offset, and
 * moves the groups to the log's first record. Changes nothing if the store already knows the log and the log ends above
 * every stored offset. Can be repeated after a crash. Throws an error for the operator if a node runs or the log has
 * fewer partitions than the store's topics use.
 */
export function adoptClusterLog(options: AdoptOptions): Promise<AdoptedLog> {
  return withClosers(async (own) => {
    const adopted = await adopt(own, options);
    await own.closeAll();
    return adopted;
  });
}

async function adopt(own: Closers, { stores, kafka, log, isRestored }: AdoptOptions): Promise<AdoptedLog> {
  const connection = await openMongo(stores.mongoUrl, { log });
  own.add(() => connection.close());
  const seen = await readSeenLog(connection);
  const context = kafkaConnection(stores, log);
  const eventLog = await openKafkaEventLog({ ...context, ...kafka });
  own.add(() => eventLog.close());
  const { clusterId, partitions } = eventLog;
  const reason = checkLog(seen, eventLog);
  if (reason === null) return { reason, bases: basesOf(seen, partitions) };
  if (partitions < partitionsSeen(seen)) {
    throw new Error(
      `${kafka.topic} has ${partitions} partitions, but the store's topics use ${partitionsSeen(seen)}: ` +
        'add partitions (`kafka-topics.sh --alter --partitions`), and adopt it again',
    );
  }
  await resetGroups(new KafkaAdmin({ ...context, clientLog: kafkaClientLog(log) }), kafka.topic);
  const raised = (highest: number) => (isRestored ? baseAfterRestore(highest, Date.now()) : baseAbove(highest));
  const bases = basesOf(seen, partitions).map((base, partition) =>
    raised(Math.max(base - 1, seen.watermarks.get(partition) ?? -1)),
  );
  await replaceLog(connection, { clusterId, bases });
  return { reason, bases };
}

function basesOf(seen: RecordedLog, partitions: number): number[] {
  return Array.from({ length: partitions }, (_, partition) => baseOf(seen, partition));
}

const groupIdNotFound = 69;
const nonEmptyGroup = 68;
/**
 * The group's coordinator is loading, unknown or moving, which lasts a moment after a broker starts; KafkaJS does not
 * retry.
 */
const coordinatorNotReady = [14, 15, 16];
const forgetTimeoutMs = 10_000;
const forgetPauseMs = 200;

/** Deletes the groups' offsets, so that they start at the first record. Kafka rejects this for a group with members. */
async function resetGroups(admin: KafkaAdmin, topic: string): Promise<void> {
  try {
    await admin.call(async (client) => {
      for (const group of logGroups) {
        await deleteGroup(client, kafkaGroupId(topic, group));
      }
    }, forgetTimeoutMs);
  } catch (error) {
    if (errorCodeOf(error) !== nonEmptyGroup) throw error;
    throw new Error('A node runs on this log or was killed in the last ten seconds: stop all nodes first', {
      cause: error,
    });
  } finally {
    await admin.close();
  }
}

async function deleteGroup(client: Admin, groupId: string): Promise<void> {
  const deadline = performance.now() + forgetTimeoutMs / 2;
  for (;;) {
    try {
      await client.deleteGroups([groupId]);
      return;
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === groupIdNotFound) return;
      if (code === undefined || !coordinatorNotReady.includes(code) || performance.now() > deadline) throw error;
      await pause(forgetPauseMs);
    }
  }
}

function errorCodeOf(error: unknown): number | undefined {
  return (error as Partial<KafkaJSDeleteGroupsError>).groups?.[0]?.errorCode;
}
