import { z } from 'zod';
import type { LoginSession } from '../domain/accounts/credentials.ts';
import { toIso } from '../domain/to-iso.ts';

/** A login, with the client of its last refresh. */
export const loginSchema = z
  .object({
    id: z.uuid(),
    created_at: z.iso.datetime(),
    last_refreshed_at: z.iso.datetime().describe('The time of the login if it was never refreshed.'),
    expires_at: z.iso.datetime().describe('It ends then unless it is refreshed.'),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    is_current: z.boolean().describe('Whether it is the login of the request.'),
  })
  .meta({ id: 'Login' });

export function toLoginJson(login: LoginSession, currentId: string | null): z.infer<typeof loginSchema> {
  return {
    id: login.id,
    created_at: toIso(login.createdAt),
    last_refreshed_at: toIso(login.refreshedAt ?? login.createdAt),
    expires_at: toIso(login.expiresAt),
    address: login.address,
    user_agent: login.userAgent,
    is_current: login.id === currentId,
  };
}
