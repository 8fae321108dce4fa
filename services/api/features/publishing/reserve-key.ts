import type { MessageReads } from '@tocsin/shared/ports/messages/message-reads.ts';
import { publisherId, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError, isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { redacted, type Message, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { StaleVersion, UniqueKeyViolation, type Documents } from '@tocsin/shared/ports/documents.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { idempotencyKeyId, idempotencyKeys, type IdempotencyKey } from '@tocsin/shared/collections/idempotency-keys.ts';

const lifetimeMs = 24 * 3_600_000;
/** Longer than any send: an older reservation belongs to a dead publisher. */
const abandonedAfterMs = 10_000;
export const keyCharactersMax = 128;

/** The state of a key before a publish. */
export type KeyState =
  /** The current message, redacted if deleted: a key must not reveal deleted content. */
  | {
      readonly kind: 'published';
      readonly message: Message | StoredMessage;
      /** The time of a scheduled message that is not on the log; null for others. */
      readonly scheduledFor: number | null;
    }
  /** Nothing is published yet; `reserve` stores the intent and resolves with the ID that the message must have. */
  | { readonly kind: 'free'; readonly reserve: (newId: string) => Promise<Reservation> };

export interface Reservation {
  readonly messageId: string;
  /** Marks the send as failed, so that a retry need not wait. Never rejects. */
  fail(): Promise<void>;
}

/** Returns the `Idempotency-Key` header, undefined if absent. Throws 422 if it is blank or too long. */
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
  readonly messages: MessageReads;
}

/**
 * Looks up a key. Throws `conflict` while another publish with it is in progress, and `unavailable` if the store is
 * down. The message ID is reserved with the key, so that repeated attempts can only create one message.
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
      return {
        kind: 'published',
        message: message.deletedAt === null ? message : redacted(message, message.deletedAt),
        scheduledFor: null,
      };
    const scheduled = await deps.documents.get(scheduledMessages, live.messageId);
    if (scheduled !== null)
      return { kind: 'published', message: scheduled.message, scheduledFor: scheduled.scheduledFor };
    // By the clock of the reserving node, which may be ahead of this node's by more.
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
  const write = () =>
    to.stored === null
      ? documents.insert(idempotencyKeys, { id: to.id, ...fields })
      : documents.update(idempotencyKeys, to.stored, fields);
  try {
    const reserved = await write().catch(async (error: unknown) => {
      if (!isUnavailable(error)) throw error;
      // It may be stored. This read waits for a new primary.
      const found = await documents.get(idempotencyKeys, to.id);
      return found?.messageId === to.messageId && found.reservedAt === to.now ? found : write();
    });
    return {
      messageId: to.messageId,
      // If this fails, a retry waits until the reservation counts as abandoned.
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
