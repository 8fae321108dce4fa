import { isEmailAddress } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { messageLimits } from '@tocsin/shared/domain/messages/message.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import { z } from 'zod';

/** The length of a text in code points, as the interface counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * A JSON string within limits in code points. A lone surrogate, which JSON can express and UTF-8 cannot, is
 * refused, because it could not be stored unchanged.
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

/** An email address, converted to lower case. */
export const emailField = z
  .string()
  .refine(isEmailAddress, 'must be an email address of at most 254 characters')
  .meta({ format: 'email', maxLength: 254 })
  .transform((email) => email.toLowerCase());

/** An ID in a body, converted to lower case. */
export const uuidField = z
  .string()
  .refine(isUuid, 'must be a UUID')
  .transform((id) => id.toLowerCase())
  .meta({ format: 'uuid' });

/** An optional field of a POST or PUT; null means omitted. */
export function optionalField<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Tags as in messages: trimmed, without empty and repeated ones, in order. */
export const tagsField = z
  .array(z.string().refine((tag) => tag.isWellFormed(), 'must be valid Unicode'))
  .transform((tags) => [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ''))])
  .refine((tags) => tags.length <= messageLimits.tags, `must be at most ${messageLimits.tags}`)
  .refine(
    (tags) => tags.every((tag) => codePoints(tag) <= messageLimits.tagCodePoints),
    `each must be at most ${messageLimits.tagCodePoints} characters`,
  );
