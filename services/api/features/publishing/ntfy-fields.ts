import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { z } from 'zod';

/** The fields that clients of ntfy read in the response to a publish. */
export const ntfyFields = { event: z.literal('message'), time: z.int(), expires: z.int() } as const;

/** Times are Unix seconds. */
export const ntfyFieldsOf = ({ timestamp, expiresAt }: Pick<Message, 'timestamp' | 'expiresAt'>) => ({
  event: 'message' as const,
  time: Math.floor(timestamp / 1_000),
  expires: Math.floor(expiresAt / 1_000),
});
