import { endLogin } from '../api/call.ts';
import { leaveBrowser } from './browser-push.ts';

/** Ends the login and the pushes to this browser. Without a connection, it only ends in this browser. */
export async function logOut(): Promise<void> {
  await leaveBrowser().catch(() => undefined);
  await endLogin().catch(() => undefined);
}
