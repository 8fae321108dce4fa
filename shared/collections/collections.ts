import type { Collection, Document } from '../ports/documents.ts';
import { accountErasures } from './account-erasures.ts';
import { addressChanges } from './address-changes.ts';
import { auditEntries, auditOrigins } from './audit-log.ts';
import { consents } from './consents.ts';
import { apiKeys, loginSessions, topicTokens } from './credentials.ts';
import { escalationAccounts, escalationChanges, escalations } from './escalation/escalations.ts';
import { digestItems, digests } from './push/digests.ts';
import { devices } from './devices-collection.ts';
import { identities } from './identities.ts';
import { knownNetworks } from './known-networks.ts';
import { logConsumers } from './log-consumers.ts';
import { mailTokens } from './mail-tokens.ts';
import { messageLocks } from './message-locks.ts';
import { quotaGuards } from './quota-guards.ts';
import { subscriptions, teamSubscriptionMembers, teamSubscriptions } from './subscriptions-collection.ts';
import { messageSequences } from './message-sequences.ts';
import { idempotencyKeys } from './idempotency-keys.ts';
import { registrations } from './registrations.ts';
import { retentionRuns, retentionStates } from './retention-runs.ts';
import { sinkDeliveryPages, sinks, sinkTopics } from './sinks/sinks.ts';
import { scheduledMessages } from './messages/scheduled-messages.ts';
import { streamSessions } from './stream-sessions.ts';
import { sweepPlaces } from './sweep-places.ts';
import { teamInvites } from './team-invites.ts';
import { teamMembers, teams } from './teams.ts';
import { formerTopics, topicCleanups } from './topic-cleanups.ts';
import { topics } from './topics.ts';
import { users } from './users.ts';

const all = [
  users,
  topics,
  idempotencyKeys,
  messageSequences,
  apiKeys,
  topicTokens,
  loginSessions,
  knownNetworks,
  teams,
  teamMembers,
  teamInvites,
  consents,
  mailTokens,
  registrations,
  addressChanges,
  identities,
  subscriptions,
  teamSubscriptions,
  teamSubscriptionMembers,
  devices,
  quotaGuards,
  topicCleanups,
  logConsumers,
  messageLocks,
  accountErasures,
  streamSessions,
  sweepPlaces,
  auditEntries,
  auditOrigins,
  retentionRuns,
  retentionStates,
  escalations,
  escalationAccounts,
  escalationChanges,
  scheduledMessages,
  digests,
  digestItems,
  sinks,
  sinkTopics,
  formerTopics,
  sinkDeliveryPages,
];

/** All collections. Drivers create their tables and models from this list when they open. */
export const collections = all as unknown as readonly Collection<Document>[];
