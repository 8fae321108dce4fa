import type { Message } from './message.ts';
import type { MobileSettings } from './subscription.ts';

/**
 * Whether the settings let a message through to the subscriber's devices: mobile notifications on, priority at or
 * above the threshold, and a shared tag unless the tag filter is empty. The drivers' recipient queries say the same.
 */
export function passesMobileFilter(settings: MobileSettings, message: Pick<Message, 'priority' | 'tags'>): boolean {
  return settings.mobileEnabled
    && settings.priorityThreshold <= message.priority
    && (settings.tagsFilter.length === 0 || settings.tagsFilter.some((tag) => message.tags.includes(tag)));
}
