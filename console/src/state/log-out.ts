import { call } from '../api/call.ts';
import { endSession } from '../api/session.ts';

/** Ends the login. Without a connection, it only ends in this browser. */
export async function logOut(): Promise<void> {
  await call('POST', '/auth/logout').catch(() => undefined);
  endSession();
}
