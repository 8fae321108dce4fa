import { publisherId, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { emptied, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { StaleVersion, UniqueKeyViolation, type Documents } from '@tocsin/shared/ports/documents.ts';
import type { Messages } from '@tocsin/shared/ports/messages.ts';
import { idempotencyKeyId, idempotencyKeys, type IdempotencyKey } from '@tocsin/shared/collections/idempotency-keys.ts';

const lifetimeMs = 24 * 3_600_000;
/** Longer than any send lasts: a reservation that is older belongs to a publisher that died. */
const abandonedAfterMs = 10_000;
export const keyCharactersMax = 128;

/** What stands under a key before a publish. */
export type KeyState =
  /** The message as it stands now, emptied when it was deleted: a key is no way to read what is gone. */
  | { readonly kind: 'published'; readonly message: StoredMessage }
  /** Nothing is published yet; `reserve` stores the intent and resolves with the id that the message has to have. */
  | { readonly kind: 'free'; readonly reserve: (newId: string) => Promise<Reservation> };

export interface Reservation {
  readonly messageId: string;
  /** Says that the send failed, so that a retry need not wait. Never rejects. */
  fail(): Promise<void>;
}

/** The `Idempotency-Key` header's value. Throws 422 for a blank or overlong one; undefined without one. */
export function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = String(header).trim();
  if (key === '' || key.length > keyCharactersMax) {
    throw new AppError('unprocessable', `Idempotency-Key: must be 1 to ${keyCharactersMax} characters`);
  }
  return key;
}

interface KeyDeps {
  readonly documents: Documents;
  readonly messages: Messages;
}

/**
 * Looks a key up. Throws `conflict` while another publish under it is in flight, `unavailable` while the store is away.
 * The message's id is reserved with the key, so however often a send is taken over, it can only become one message.
 */
export async function findKey(
  deps: KeyDeps,
  of: { caller: Caller; topicId: string; key: string },
  now: number,
): Promise<KeyState> {
  const id = idempotencyKeyId({ publisher: publisherId(of.caller), topicId: of.topicId, key: of.key });
  const stored = await deps.documents.get(idempotencyKeys, id);
  const live = stored !== null && stored.expiresAt > now ? stored : null;
  if (live !== null) {
    const message = await deps.messages.find(live.messageId);
    if (message !== null)
      return { kind: 'published', message: message.deletedAt === null ? message : emptied(message, message.deletedAt) };
    // By the clock of the node that reserved it, which may stand ahead of ours by more.
    if (!live.hasFailed && Math.abs(now - live.reservedAt) < abandonedAfterMs) throw inProgress();
  }
  return {
    kind: 'free',
    reserve: (newId) => reserve(deps.documents, { id, stored, messageId: live?.messageId ?? newId, now }),
  };
}

const inProgress = () => new AppError('conflict', 'Request in progress', { retryAfterSeconds: 1 });

async function reserve(
  documents: Documents,
  to: { id: string; stored: IdempotencyKey | null; messageId: string; now: number },
): Promise<Reservation> {
  const fields = { messageId: to.messageId, reservedAt: to.now, hasFailed: false, expiresAt: to.now + lifetimeMs };
  try {
    const reserved =
      to.stored === null
        ? await documents.insert(idempotencyKeys, { id: to.id, ...fields })
        : await documents.update(idempotencyKeys, to.stored, fields);
    return {
      messageId: to.messageId,
      // Should this fail, the retry waits until the reservation counts as abandoned.
      fail: () =>
        documents.update(idempotencyKeys, reserved, { hasFailed: true }).then(
          () => undefined,
          () => undefined,
        ),
    };
  } catch (error) {
    if (error instanceof UniqueKeyViolation || error instanceof StaleVersion) throw inProgress();
    throw error;
  }
}
