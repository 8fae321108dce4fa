import {
  isUsername,
  passwordBytesMax,
  passwordLengthMin,
  usernamePattern,
} from '@tocsin/shared/domain/accounts/account-rules.ts';
import { newPasswordFault } from '@tocsin/shared/operations/accounts/new-password-fault.ts';
import { z } from 'zod';

export const usernameField = z
  .string()
  .refine(isUsername, 'must be 3 to 32 letters, digits, dots, dashes and underscores')
  .meta({ pattern: usernamePattern.source });

/** A new password. */
export const newPasswordField = z
  .string()
  .superRefine((password, context) => {
    const fault = newPasswordFault(password);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({
    minLength: passwordLengthMin,
    maxLength: passwordBytesMax,
    description: `At most ${passwordBytesMax} bytes in UTF-8.`,
  });

/** `{message}`, a sentence for the user. */
export const messageSchema = z.object({ message: z.string() });
