import { call } from '../api/call.ts';
import { endSession } from '../api/session.ts';
import { leaveBrowser } from './browser-push.ts';

/** Ends the login and the pushes to this browser. Without a connection, it only ends in this browser. */
export async function logOut(): Promise<void> {
  await leaveBrowser().catch(() => undefined);
  await call('POST', '/auth/logout').catch(() => undefined);
  endSession();
}
