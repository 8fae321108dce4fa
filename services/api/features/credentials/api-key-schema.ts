import { scopes } from '@tocsin/shared/domain/accounts/credentials.ts';
import { z } from 'zod';

/** The API key object of the interface, without the secret. */
export const apiKeySchema = z
  .object({
    id: z.uuid(),
    user_id: z.uuid(),
    name: z.string(),
    key_prefix: z.string(),
    description: z.string(),
    scopes: z.array(z.enum(scopes)),
    request_count: z.int(),
    is_active: z.boolean(),
    is_valid: z.boolean(),
    created_at: z.iso.datetime(),
    last_used: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ApiKey' });
