import type { Device } from '../domain/push/device.ts';
import { write, type Documents } from '../ports/documents.ts';
import { devices } from '../collections/devices-collection.ts';
import { subscriptions } from '../collections/subscriptions-collection.ts';
import { users } from '../collections/users.ts';
import { newDevice, newSubscription, newUser } from './builders.ts';

/** Three writes per subscriber. */
const commitSize = 300;

/** Subscribes this many users to the topic, each with a device, in few commits. Resolves with the devices. */
export async function addSubscribers(
  documents: Documents,
  topicId: string,
  each: readonly Partial<Device>[],
): Promise<Device[]> {
  const made: Device[] = [];
  for (let start = 0; start < each.length; start += commitSize) {
    await documents.commit(
      each.slice(start, start + commitSize).flatMap((given) => {
        const user = newUser();
        const device = newDevice(user.id, given);
        made.push({ ...device, version: 1 });
        return [
          write.insert(users, user),
          write.insert(devices, device),
          write.insert(subscriptions, newSubscription(user.id, topicId)),
        ];
      }),
    );
  }
  return made;
}
