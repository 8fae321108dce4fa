import { signal } from '@preact/signals';
import { call, CallFailed, download, type CallOptions } from '../../api/call.ts';
import { keepOperatorToken, operatorToken } from '../../state/operator-token.ts';

/** Why the console asks for the token again. */
export const refusal = signal<string | null>(null);

const rejected = 'The server rejected the token. Enter the value of ADMIN_TOKEN in its configuration.';
const isBlocked = 'A proxy blocks /admin at this address. Open the page on the node itself.';
const isOff = 'This server has no access for operators: set ADMIN_TOKEN in its configuration and restart it.';

/** Checks the token with the server and keeps it in this tab. Throws with the reason for a rejected one. */
export async function enterToken(token: string): Promise<void> {
  if (!/^[\x20-\x7e]+$/.test(token)) throw new Error(rejected);
  await call('GET', '/admin/holds?limit=1', { token }).catch((error: unknown) => {
    throw new Error(refusalOf(error) ?? (error as Error).message, { cause: error });
  });
  refusal.value = null;
  keepOperatorToken(token);
}

export function forgetToken(reason: string | null): void {
  refusal.value = reason;
  keepOperatorToken(null);
}

/** Like `call`, with the operator's token. If the server no longer accepts it, the console asks for it again. */
export function callAsOperator<T = undefined>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  return withToken((token) => call<T>(method, path, { ...options, token }));
}

export function downloadAsOperator(path: string, fileName: string): Promise<void> {
  return withToken((token) => download(path, fileName, { token }));
}

async function withToken<T>(send: (token: string) => Promise<T>): Promise<T> {
  const token = operatorToken.value;
  if (token === null) throw new Error('Enter the token of the operator first.');
  try {
    return await send(token);
  } catch (error) {
    const reason = refusalOf(error);
    if (reason !== null && operatorToken.value === token) forgetToken(reason);
    throw error;
  }
}

/** Null for an error that does not concern the token. An unknown topic or account has another text. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof CallFailed)) return null;
  if (error.status === 401) return rejected;
  // The API itself does not answer the operator with 403.
  if (error.status === 403) return isBlocked;
  return error.status === 404 && !/^\w+ not found$/.test(error.message) ? isOff : null;
}
