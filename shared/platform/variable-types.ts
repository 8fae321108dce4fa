import { z } from 'zod';

/** Documentation of a variable, in Markdown. */
export interface VariableDoc {
  /** Empty if the description of the previous variable covers it. */
  readonly description: string;
  /** Describes a default that is not a constant, such as the value of another variable. */
  readonly defaultText?: string;
  /** Example for `.env.example`, for a variable without a default. */
  readonly example?: string;
  /** The value is never displayed. */
  readonly isSecret?: true;
}

export const variableDocs = z.registry<VariableDoc>();

export const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['on', 'off', 'true', 'false', '1', '0']))
  .transform((value) => ['on', 'true', '1'].includes(value));
export const days = z.coerce.number().positive();
export const optionalDays = z.coerce.number().min(0);
export const port = z.coerce.number().int().min(0).max(65_535);
export const url = z.url();
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' });
/** An origin as browsers send it: any scheme, without a path. */
export const originPattern = /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+)$/i;
/** Whether the function accepts the text without throwing. */
export const isAcceptedBy =
  (read: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
