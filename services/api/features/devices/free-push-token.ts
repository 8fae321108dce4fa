import { UniqueKeyViolation, write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';

/**
 * Returns the writes that remove the push token from its current device, so that the device with the given ID
 * (null: a new device) can use it. A provider's token identifies one app on one phone, so the latest registration
 * wins.
 */
export async function freePushToken(
  documents: Documents,
  token: { pushToken: string; for: string | null; userId: string },
): Promise<{ writes: Write[]; takesOwnDevice: boolean }> {
  const [holder] = await documents.find(devices, {
    index: 'pushToken',
    equals: { pushToken: token.pushToken },
    limit: 1,
  });
  if (holder === undefined || holder.id === token.for) return { writes: [], takesOwnDevice: false };
  return { writes: [write.remove(devices, holder.id, holder.version)], takesOwnDevice: holder.userId === token.userId };
}

/** Whether a concurrent request registered the same device or token, so that the read state is stale. */
export function isLostRegistration(error: unknown): boolean {
  return error instanceof UniqueKeyViolation && error.collection === devices.name && error.key !== 'id';
}
