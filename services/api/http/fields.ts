import { isEmailAddress } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { messageLimits } from '@tocsin/shared/domain/messages/message.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import { z } from 'zod';

/** How long a text is, as the interface counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * A text of JSON within limits in code points. Half of a surrogate pair, which JSON can write and UTF-8 cannot, is
 * refused: it could not be stored as it was sent.
 */
export function textField(limits: { min: number; max: number }): z.ZodType<string, string> {
  const message =
    limits.min === 0 ? `must be at most ${limits.max} characters` : `must be ${limits.min} to ${limits.max} characters`;
  return z
    .string()
    .refine((text) => text.isWellFormed(), { error: 'must be valid Unicode', abort: true })
    .refine((text) => {
      const count = codePoints(text);
      return count >= limits.min && count <= limits.max;
    }, message)
    .meta({ ...(limits.min === 0 ? {} : { minLength: limits.min }), maxLength: limits.max });
}

/** A mail address, lower-cased. */
export const emailField = z
  .string()
  .refine(isEmailAddress, 'must be an email address of at most 254 characters')
  .meta({ format: 'email', maxLength: 254 })
  .transform((email) => email.toLowerCase());

/** An id in a body, lower-cased. */
export const uuidField = z
  .string()
  .refine(isUuid, 'must be a UUID')
  .transform((id) => id.toLowerCase())
  .meta({ format: 'uuid' });

/** A field that a POST or PUT may leave out; null is the same as leaving it out. */
export function optionalField<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Tags as messages have them: trimmed, empty ones dropped, repeated ones once, in order. */
export const tagsField = z
  .array(z.string().refine((tag) => tag.isWellFormed(), 'must be valid Unicode'))
  .transform((tags) => [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ''))])
  .refine((tags) => tags.length <= messageLimits.tags, `must be at most ${messageLimits.tags}`)
  .refine(
    (tags) => tags.every((tag) => codePoints(tag) <= messageLimits.tagCodePoints),
    `each must be at most ${messageLimits.tagCodePoints} characters`,
  );
