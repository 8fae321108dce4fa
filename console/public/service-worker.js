// Shows the pushes of Tocsin. It caches nothing and answers no requests, so that no old console is ever shown.

const vibration = [200, 100, 200];

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => event.waitUntil(show(read(event.data))));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** The push of the server: `{title, body, data, tag, silent, vibrates}`. Browsers require that each push is shown. */
function read(data) {
  try {
    const push = data.json();
    if (typeof push.title === 'string') return push;
  } catch {
    // shown below
  }
  return { title: 'Tocsin', body: 'A message arrived' };
}

function show({ title, body, data = {}, tag, silent = false, vibrates = false }) {
  return self.registration.showNotification(title, {
    body,
    data,
    silent,
    icon: '/assets/icon-192.png',
    badge: '/assets/badge-96.png',
    // A push with the tag of an earlier one replaces it: an edit without a sound, a new message with one.
    ...(tag === undefined ? {} : { tag, renotify: !silent }),
    ...(vibrates && !silent ? { vibrate: vibration } : {}),
  });
}

/** Opens the topic at the message, in a window of the console if there is one. */
async function open({ topic, message_id: message }) {
  const at = message === undefined ? '' : `?message=${encodeURIComponent(message)}`;
  const path = topic === undefined ? '/console' : `/console/topics/${encodeURIComponent(topic)}${at}`;
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const isConsole = ({ url }) => /^\/(console(\/|$)|$)/.test(new URL(url).pathname);
  const existing = windows.find((one) => one.focused && isConsole(one)) ?? windows.find(isConsole);
  if (existing === undefined) return void (await self.clients.openWindow(path));
  existing.postMessage({ kind: 'open', path });
  await existing.focus();
}
