import { allMessagesOf, type MessageFilter } from '../messages/message-filter.ts';
import type { Message } from '../messages/message.ts';
import type { MobileSettings } from './subscription.ts';

/**
 * Whether the settings allow a push of the message: mobile notifications are on, the priority is at or above the
 * threshold, and a tag matches unless the tag filter is empty. The drivers' recipient queries implement the same rule.
 */
export function passesMobileFilter(settings: MobileSettings, message: Pick<Message, 'priority' | 'tags'>): boolean {
  return mobileFilterFault(settings, message) === null;
}

/** Returns the rule that blocks the push, as text for the subscriber; null if the settings allow it. */
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

/** Returns a filter for the messages of the topic and period that the settings allow; null if they allow none. */
export function mobileMessageFilter(
  topicId: string,
  { mobileEnabled, priorityThreshold, tagsFilter }: MobileSettings,
  { from, to, now }: { from: number; to: number; now: number },
): MessageFilter | null {
  const tags = tagsFilter.filter((tag) => !tag.includes(',')); // no message has a tag with a comma
  if (!mobileEnabled || (tagsFilter.length > 0 && tags.length === 0)) return null;
  return allMessagesOf([topicId], { now, priorityMin: priorityThreshold, tags, from, to });
}
