import { UniqueKeyViolation, write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';

/**
 * The writes that take the push token away from the device that has it, so that it can be given to the one with the id
 * (null: a new one). A provider's token stands for one app on one phone, so who registers it last has it; and what of
 * the caller's devices goes with it.
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

/** Whether someone else registered the same device or token in between: what was read no longer holds. */
export function isLostRegistration(error: unknown): boolean {
  return error instanceof UniqueKeyViolation && error.collection === devices.name && error.key !== 'id';
}
