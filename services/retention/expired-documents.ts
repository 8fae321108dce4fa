import { registrationLifetimeMs } from '@tocsin/shared/domain/accounts/registration.ts';
import { addressChangeUndoMs } from '@tocsin/shared/domain/accounts/address-change.ts';
import { endedScheduledKeptMs } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { inviteKeptMs } from '@tocsin/shared/domain/teams/team.ts';
import type { Collection, Document } from '@tocsin/shared/ports/documents.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { auditEntries, auditOrigins } from '@tocsin/shared/collections/audit-log.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { knownNetworks } from '@tocsin/shared/collections/known-networks.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { messageLocks } from '@tocsin/shared/collections/message-locks.ts';
import { messageSequences } from '@tocsin/shared/collections/message-sequences.ts';
import { registrations } from '@tocsin/shared/collections/registrations.ts';
import { formerTopics } from '@tocsin/shared/collections/topic-cleanups.ts';
import { retentionRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import type { RetentionDeps } from './sweep/retention-deps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Documents that a sweep removes when a time of theirs is `keptMs` ago. */
export interface ExpiredDocuments {
  /** The name of the sweep in logs, metrics and jobs. */
  readonly sweep: string;
  readonly collection: Collection<Document>;
  /** An index whose first field is the time. */
  readonly index: string;
  readonly keptMs: (deps: Pick<RetentionDeps, 'auditRetentionMs'>) => number;
}

const auditRetention: ExpiredDocuments['keptMs'] = ({ auditRetentionMs }) => auditRetentionMs;

/** All sweeps that only differ in these values. Sweeps with the same name run together, in this order. */
export const expiredDocuments: readonly ExpiredDocuments[] = [
  // For a week, a late client gets an expired error instead of an invalid token error. Cached logins need not end: the
  // last access token of these ended long ago.
  row('remove-ended-logins', unannounced(loginSessions), 'byExpiry', 7 * dayMs),
  row('remove-known-networks', knownNetworks, 'byTime', 180 * dayMs),
  row('remove-mailed-tokens', mailTokens, 'byExpiry', 7 * dayMs),
  // A node may be unable to extend a session for some minutes although a stream is open.
  row('remove-ended-stream-sessions', streamSessions, 'byExpiry', 10 * minuteMs),
  row('remove-address-changes', addressChanges, 'byTime', addressChangeUndoMs),
  row('remove-old-registrations', registrations, 'byTime', registrationLifetimeMs),
  row('remove-old-invites', teamInvites, 'byExpiry', inviteKeptMs),
  // For a node with a slow clock, a key is still valid: more than the clock skew of nodes.
  row('remove-idempotency-keys', idempotencyKeys, 'byExpiry', hourMs),
  row('remove-message-sequences', messageSequences, 'byExpiry', 0),
  // Locks of dead processes: long after any change has ended.
  row('remove-message-locks', messageLocks, 'byTime', hourMs),
  // A record of the message can be read again while the message has not expired.
  row('remove-ended-escalations', escalations, 'byExpiry', hourMs),
  row('remove-ended-scheduled-messages', scheduledMessages, 'byEnd', endedScheduledKeptMs),
  row('remove-old-audit-entries', auditOrigins, 'byTime', auditRetention),
  row('remove-old-audit-entries', auditEntries, 'byTime', auditRetention),
  row('remove-old-reports', retentionRuns, 'byTime', 90 * dayMs),
  row('remove-former-topics', formerTopics, 'byTime', 90 * dayMs),
];

/** The collection whose removals are not announced: thousands of them would make caches read every value again. */
function unannounced<T extends Document>({ cached: _, ...collection }: Collection<T>): Collection<T> {
  return collection;
}

function row<T extends Document>(
  sweep: string,
  collection: Collection<T>,
  index: string,
  keptMs: number | ExpiredDocuments['keptMs'],
): ExpiredDocuments {
  return {
    sweep,
    collection: collection as unknown as Collection<Document>,
    index,
    keptMs: typeof keptMs === 'number' ? () => keptMs : keptMs,
  };
}
