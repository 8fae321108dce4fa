/**
 * Optional features of this server, which the server writes into the page: `google` (Google login), `email` (sends
 * emails).
 */
const features = new Set(
  document.querySelector<HTMLMetaElement>('meta[name="tocsin-features"]')?.content.split(' ') ?? [],
);

export const hasGoogleLogin = features.has('google');
export const sendsEmails = features.has('email');

/** With which browsers subscribe to pushes; empty if the server does not push to browsers. */
export const vapidKey = document.querySelector<HTMLMetaElement>('meta[name="tocsin-vapid-key"]')?.content ?? '';
