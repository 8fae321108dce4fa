import { call } from '../api/call.ts';
import { endSession } from '../api/session.ts';
import { emptyInbox } from './inbox.ts';

/** Ends the login. Without a connection, it only ends in this tab. */
export async function logOut(): Promise<void> {
  await call('POST', '/auth/logout').catch(() => undefined);
  emptyInbox();
  endSession();
}
