import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { StreamSession } from '@tocsin/shared/domain/accounts/stream-session.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { findStreamSession } from '@tocsin/shared/collections/stream-sessions.ts';
import type { ApiDeps } from '../../api-deps.ts';

const prefix = 'ss_';

/** Returns a new session ID for a client and its stored hash. */
export function makeSessionSecret(): { secret: string; id: string } {
  const secret = makeSecret(prefix);
  return { secret, id: hashSecret(secret) };
}

/** Returns the client's session. Throws 401 if it is unknown or expired. */
export async function requireSession(
  { engine, clock }: Pick<ApiDeps, 'engine' | 'clock'>,
  secret: string,
): Promise<StreamSession> {
  const session = await findStreamSession(engine.documents, hashSecret(secret), clock());
  if (session === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return session;
}
