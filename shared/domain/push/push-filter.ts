import { allMessagesOf, type MessageFilter } from '../messages/message-filter.ts';
import type { Message } from '../messages/message.ts';
import type { Platform } from './device.ts';
import type { MobileSettings } from './subscription.ts';

/** Whether the settings allow pushes to devices of the platform: browsers have their own switch. */
export function isPushedTo(
  { mobileEnabled, webEnabled }: Pick<MobileSettings, 'mobileEnabled' | 'webEnabled'>,
  platform: Platform,
): boolean {
  return platform === 'web' ? webEnabled : mobileEnabled;
}

/**
 * Whether the settings allow a push of the message to some device: mobile or web notifications are on, the priority is
 * at or above the threshold, and a tag matches unless the tag filter is empty. The drivers' recipient queries implement
 * the same rule.
 */
export function passesPushFilter(settings: MobileSettings, message: Pick<Message, 'priority' | 'tags'>): boolean {
  return (settings.mobileEnabled || settings.webEnabled) && messageFault(settings, message) === null;
}

/** Returns the rule that blocks the push to the platform, as text for the subscriber; null if the settings allow it. */
export function pushFilterFault(
  settings: MobileSettings,
  message: Pick<Message, 'priority' | 'tags'>,
  platform: Platform,
): string | null {
  if (isPushedTo(settings, platform)) return messageFault(settings, message);
  return `${platform === 'web' ? 'web' : 'mobile'} notifications are off for the topic`;
}

function messageFault(
  { priorityThreshold, tagsFilter }: MobileSettings,
  message: Pick<Message, 'priority' | 'tags'>,
): string | null {
  if (priorityThreshold > message.priority)
    return `priority ${message.priority} is below the threshold of ${priorityThreshold}`;
  const isTagged = tagsFilter.length === 0 || tagsFilter.some((tag) => message.tags.includes(tag));
  return isTagged ? null : `no tag of the filter: ${tagsFilter.join(', ')}`;
}

/**
 * Returns a filter for the messages of the topic and period that threshold and tags allow, whichever notifications are
 * on; null if they allow none.
 */
export function pushedMessages(
  topicId: string,
  { priorityThreshold, tagsFilter }: Pick<MobileSettings, 'priorityThreshold' | 'tagsFilter'>,
  { from, to, now }: { from: number; to: number; now: number },
): MessageFilter | null {
  const tags = tagsFilter.filter((tag) => !tag.includes(',')); // no message has a tag with a comma
  if (tagsFilter.length > 0 && tags.length === 0) return null;
  return allMessagesOf([topicId], { now, priorityMin: priorityThreshold, tags, from, to });
}
