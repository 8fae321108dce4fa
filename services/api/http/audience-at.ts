import type { Audience } from './route.ts';

/**
 * The audience of unknown paths. An expired credential must not block a login, the operator's token is not
 * an account credential, and pages ignore credentials.
 */
export function audienceAt(url: string): Audience {
  if (url.startsWith('/auth/')) return 'unread';
  if (/^\/(console|assets|docs)\//.test(url)) return 'uncounted';
  return url.startsWith('/admin/') ? 'operator' : 'anyone';
}
