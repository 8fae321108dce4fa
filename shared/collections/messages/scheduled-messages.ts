import type { ScheduledMessage } from '../../domain/messages/scheduled-message.ts';
import type { Collection } from '../../ports/documents.ts';

/**
 * Messages that wait for their time. The collection decides what is delivered: no job or timer elsewhere is needed.
 */
export const scheduledMessages: Collection<ScheduledMessage> = {
  name: 'scheduledMessages',
  fields: {
    topicId: 'text',
    topicName: 'text',
    topicOwnerId: 'text',
    teamId: 'text',
    publisher: 'json',
    guestId: 'text',
    holderId: 'text',
    message: 'json',
    scheduledFor: 'time',
    ttlMs: 'integer',
    dueAt: 'time',
    attemptExpiresAt: 'time',
    state: 'text',
    reason: 'text',
    endedAt: 'time',
  },
  uniqueKeys: {},
  indexes: {
    byDue: ['dueAt'],
    byTopicDue: ['topicId', 'dueAt'],
    byHolder: ['holderId'],
    byEnd: ['endedAt'],
    byTopic: ['topicId', 'scheduledFor'],
    byTopicOwner: ['topicOwnerId', 'scheduledFor'],
    byTeam: ['teamId', 'scheduledFor'],
    byGuest: ['guestId', 'scheduledFor'],
    byGuestTopic: ['guestId', 'topicId', 'scheduledFor'],
    byGuestTeam: ['guestId', 'teamId'],
  },
};
