import { computed, effect } from '@preact/signals';
import { inbox } from './inbox.ts';

const unread = computed(
  () => inbox.value?.subscriptions.reduce((sum, subscription) => sum + subscription.unread_count, 0) ?? 0,
);

/** Shows the number of unread messages on the icon of the installed console. */
export function showAppBadge(): void {
  if (!('setAppBadge' in navigator)) return;
  // Without an installed console there is no icon, and some browsers refuse.
  effect(() => void navigator.setAppBadge(unread.value).catch(() => undefined));
}
