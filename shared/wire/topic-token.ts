import { z } from 'zod';
import type { TopicToken } from '../domain/accounts/credentials.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

/** A topic token without its secret. */
export const topicTokenSchema = z
  .object({
    id: z.uuid(),
    topic_id: z.uuid(),
    created_by: z.uuid(),
    name: z.string(),
    permissions: z.array(z.enum(['read', 'write'])),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'TopicToken' });

export function toTopicTokenJson(token: TopicToken): z.infer<typeof topicTokenSchema> {
  return {
    id: token.id,
    topic_id: token.topicId,
    created_by: token.createdBy,
    name: token.name,
    permissions: [...token.permissions],
    created_at: toIso(token.createdAt),
    expires_at: isoOrNull(token.expiresAt),
    last_used_at: isoOrNull(token.lastUsedAt),
  };
}
