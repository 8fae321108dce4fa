import { PartitionAssigners, type Cluster } from 'kafkajs';
import { within } from '../../../async/within.ts';
import { kafkaClient, type KafkaContext } from './kafka-client.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import type { ListedMember } from './members/silent-members.ts';

/** The group coordinator's requests that kafkajs does not declare. */
interface Coordinator {
  leaveGroup(member: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

const requestTimeoutMs = 2_000;

/** Returns the members of the group, including those that are joining. */
export async function listGroupMembers(admin: KafkaAdmin, groupId: string): Promise<ListedMember[]> {
  const { groups } = await admin.call((client) => client.describeGroups([groupId]), requestTimeoutMs);
  return (groups[0]?.members ?? []).map(({ memberId, clientId }) => ({ memberId, clientId }));
}

/**
 * Makes a member leave the group. Returns false if it is not a member any more. Uses a connection of its own: brokers
 * process the requests of a connection one after another, and a request to join waits for the other members.
 */
export async function removeGroupMember(
  connection: KafkaContext,
  { groupId, memberId }: { readonly groupId: string; readonly memberId: string },
): Promise<boolean> {
  const client = kafkaClient(connection, { requestTimeoutMs });
  const { promise, resolve } = Promise.withResolvers<Cluster>();
  const consumer = client.kafka.consumer({
    groupId,
    partitionAssigners: [assignerThat(resolve)],
  });
  const leave = async (): Promise<boolean> => {
    await consumer.connect();
    const coordinator = (await (await promise).findGroupCoordinator({ groupId })) as unknown as Coordinator;
    await coordinator.leaveGroup({ groupId, memberId });
    return true;
  };
  try {
    return await within(2 * requestTimeoutMs, 'removing a member', leave());
  } catch (error) {
    if ((error as { type?: unknown }).type === 'UNKNOWN_MEMBER_ID') return false;
    throw error;
  } finally {
    await within(requestTimeoutMs, 'leaving Kafka', consumer.disconnect()).catch(() => undefined);
    client.destroy();
  }
}

/** Returns kafkajs' default assigner, which receives the consumer's cluster when the consumer is created. */
export function assignerThat(onCluster: (cluster: Cluster) => void): typeof PartitionAssigners.roundRobin {
  return (config) => {
    onCluster(config.cluster);
    return PartitionAssigners.roundRobin(config);
  };
}
