import type { MessageFilter } from '../messages/message-filter.ts';
import type { Message } from '../messages/message.ts';
import type { MobileSettings } from './subscription.ts';

/**
 * Whether the settings let a message through to the subscriber's devices: mobile notifications on, priority at or
 * above the threshold, and a shared tag unless the tag filter is empty. The drivers' recipient queries say the same.
 */
export function passesMobileFilter(settings: MobileSettings, message: Pick<Message, 'priority' | 'tags'>): boolean {
  return mobileFilterFault(settings, message) === null;
}

/** The rule by which the settings keep the message back, for the subscriber to read; null when they let it through. */
export function mobileFilterFault(
  settings: MobileSettings,
  message: Pick<Message, 'priority' | 'tags'>,
): string | null {
  const { mobileEnabled, priorityThreshold, tagsFilter } = settings;
  if (!mobileEnabled) return 'mobile notifications are off for the topic';
  if (priorityThreshold > message.priority)
    return `priority ${message.priority} is below the threshold of ${priorityThreshold}`;
  const isTagged = tagsFilter.length === 0 || tagsFilter.some((tag) => message.tags.includes(tag));
  return isTagged ? null : `no tag of the filter: ${tagsFilter.join(', ')}`;
}

/** The stored messages of the topic and time that the settings let through, as the message store is asked for them; null: none. */
export function mobileMessageFilter(
  topicId: string,
  { mobileEnabled, priorityThreshold, tagsFilter }: MobileSettings,
  { from, to, now }: { from: number; to: number; now: number },
): MessageFilter | null {
  const tags = tagsFilter.filter((tag) => !tag.includes(',')); // no message has one with a comma
  if (!mobileEnabled || (tagsFilter.length > 0 && tags.length === 0)) return null;
  return {
    topicIds: [topicId],
    text: null,
    priorityMin: priorityThreshold,
    priorityMax: null,
    tags,
    from,
    to,
    includesDeleted: false,
    now,
  };
}
