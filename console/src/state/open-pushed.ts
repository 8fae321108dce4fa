import { navigate } from 'wouter-preact/use-browser-location';

/** Opens the message of a notification that the user clicked, at the request of the service worker. */
export function openPushed(): void {
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ kind?: string; path?: string }>) => {
    if (data.kind === 'open' && data.path?.startsWith('/console') === true) navigate(data.path);
  });
  navigator.serviceWorker.startMessages();
}
