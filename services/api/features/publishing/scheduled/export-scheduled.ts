import type { ScheduledMessage } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { scheduledMessageSchema } from '@tocsin/shared/wire/scheduled-message.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import type { ExportSection } from '../../../export/export-section.ts';
import { describeScheduled } from './describe-scheduled.ts';

/** The scheduled messages of the account's topics, then those that it published to topics of others, earliest first. */
export function exportScheduled(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>): ExportSection {
  const listed = {
    valueOf: ({ scheduledFor }: ScheduledMessage) => scheduledFor,
    next: (time: number) => time + 1,
  };
  return {
    name: 'scheduled_messages',
    scopes: ['subscribe'],
    schema: scheduledMessageSchema,
    async *pages({ caller }) {
      for (const of of [
        { index: 'byTopicOwner', equals: { topicOwnerId: caller.userId } },
        { index: 'byGuest', equals: { guestId: caller.userId } },
      ]) {
        for await (const page of paginateIndex(deps.engine.documents, scheduledMessages, { ...of, ...listed }))
          yield await describeScheduled(deps, caller, page);
      }
    },
  };
}
