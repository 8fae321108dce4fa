import type { Device } from '../domain/push/device.ts';
import { write, type Documents } from '../ports/documents.ts';
import { devices } from '../collections/devices-collection.ts';
import { subscriptions } from '../collections/subscriptions-collection.ts';
import { users } from '../collections/users.ts';
import { newDevice, newSubscription, newUser } from './builders.ts';

/** Of three writes each. */
export const subscribersPerCommit = 300;

/** Subscribes this many users to the topic, each with a device, in few commits. Resolves with the devices. */
export async function addSubscribers(
  documents: Documents,
  topicId: string,
  each: readonly Partial<Device>[],
): Promise<Device[]> {
  const made: Device[] = [];
  for (let start = 0; start < each.length; start += subscribersPerCommit) {
    const subscribers = each.slice(start, start + subscribersPerCommit).map((given) => {
      const user = newUser();
      return { user, device: newDevice(user.id, given) };
    });
    // By collection, because MongoDB inserts neighbors of one collection in one command.
    await documents.commit([
      ...subscribers.map(({ user }) => write.insert(users, user)),
      ...subscribers.map(({ device }) => write.insert(devices, device)),
      ...subscribers.map(({ user }) => write.insert(subscriptions, newSubscription(user.id, topicId))),
    ]);
    made.push(...subscribers.map(({ device }) => ({ ...device, version: 1 })));
  }
  return made;
}
