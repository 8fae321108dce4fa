import type { Audience } from './route.ts';

/**
 * Whose credential is looked at where no route is. A stale one must not stand in the way of a login, and the operator's
 * token is no credential of an account.
 */
export function audienceAt(url: string): Audience {
  if (url.startsWith('/auth/')) return 'unread';
  return url.startsWith('/admin/') ? 'operator' : 'anyone';
}
