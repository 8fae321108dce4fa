import type { Audience } from './route.ts';

/**
 * Whose credential is looked at where no route is. A stale one must not stand in the way of a login, the operator's token is
 * no credential of an account, and for the pages none is looked at.
 */
export function audienceAt(url: string): Audience {
  if (url.startsWith('/auth/')) return 'unread';
  if (/^\/(console|assets|docs)\//.test(url)) return 'uncounted';
  return url.startsWith('/admin/') ? 'operator' : 'anyone';
}
