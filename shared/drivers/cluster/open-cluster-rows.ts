import { logGroups, notifierGroup } from '../../domain/log/log-groups.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import type { ExportState, InstallationRows } from '../../ports/installation-rows.ts';
import { requireKnownLog } from './check-log.ts';
import { KafkaAdmin } from './kafka/kafka-admin.ts';
import { kafkaClientLog } from './kafka/kafka-client.ts';
import { kafkaConnection } from './kafka/kafka-connection.ts';
import { openKafkaEventLog, type KafkaEventLog } from './kafka/kafka-event-log.ts';
import { kafkaGroupId } from './kafka/kafka-group-id.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { openMongoDeliveries } from './mongo/deliveries/mongo-deliveries.ts';
import { openMongoDocuments } from './mongo/documents/mongo-documents.ts';
import { mongoInstallationRows } from './mongo/transfer/mongo-installation-rows.ts';
import { baseOf, readSeenLog, type RecordedLog } from './mongo/mongo-log-base.ts';
import { prepareMessageCollections } from './mongo/messages/mongo-message-collections.ts';
import type { ClusterOptions } from './open-cluster.ts';

/**
 * Opens a cluster's stores as rows, and creates missing collections. Rejects a log that does not belong to the store.
 */
export function openClusterRows(
  options: Pick<ClusterOptions, 'stores' | 'kafka' | 'collections' | 'recipients' | 'log'>,
): Promise<InstallationRows> {
  const { stores, kafka, collections, log } = options;
  return withClosers(async (own) => {
    const connection = await openMongo(stores.mongoUrl, { log });
    own.add(() => connection.close());
    await openMongoDocuments({ connection, collections, log });
    await openMongoDeliveries({ connection, ...options.recipients });
    const messages = await prepareMessageCollections(connection);
    const seen = await readSeenLog(connection);
    const context = kafkaConnection(stores, log);
    const eventLog = await openKafkaEventLog({ ...context, ...kafka, base: (partition) => baseOf(seen, partition) });
    own.add(() => eventLog.close());
    const admin = new KafkaAdmin({ ...context, clientLog: kafkaClientLog(log) });
    own.add(() => admin.close());
    const rows = mongoInstallationRows({
      connection,
      collections,
      messages,
      eventLog,
      close: () => own.closeAll(),
      state: () => stateOf({ seen, eventLog, hasMembers: () => hasMembers(admin, kafka.topic) }),
    });
    // An import killed at its end may have moved the watermarks but not the bases.
    if ((await rows.importProgress()) === null) requireKnownLog(seen, eventLog, kafka.topic);
    return rows;
  });
}

const describeTimeoutMs = 8_000;

async function hasMembers(admin: KafkaAdmin, topic: string): Promise<boolean> {
  const ids = logGroups.map((group) => kafkaGroupId(topic, group));
  const { groups } = await admin.call((client) => client.describeGroups(ids), describeTimeoutMs);
  return groups.some(({ members }) => members.length > 0);
}

async function stateOf({
  seen,
  eventLog,
  hasMembers,
}: {
  seen: RecordedLog;
  eventLog: KafkaEventLog;
  hasMembers: () => Promise<boolean>;
}): Promise<ExportState> {
  if (await hasMembers())
    return { blockers: ['a node runs or was killed in the last ten seconds: stop all nodes'], notes: [] };
  let missing = 0;
  for (let partition = 0; partition < eventLog.partitions; partition += 1) {
    const stored = Math.max(seen.watermarks.get(partition) ?? -1, baseOf(seen, partition) - 1) + 1;
    missing += Math.max(0, (await eventLog.end(partition)) - stored);
  }
  const unpushed = await eventLog.lag(notifierGroup);
  return {
    blockers:
      missing === 0
        ? []
        : [
            `${missing} records of the log are not in the store yet: run a node with ROLES=fanout,notifier until its lag is 0, then stop it`,
          ],
    notes: unpushed === 0 ? [] : [`the notifier has ${unpushed} unprocessed records, which will not be pushed`],
  };
}
