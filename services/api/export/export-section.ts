import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { z } from 'zod';

/** The exported account. */
export interface ExportOwner {
  /** Like a login for any credential: an export shows everything that its user may see. */
  readonly caller: AccountCaller;
  /** The start of the export, Unix time in milliseconds. */
  readonly now: number;
}

/** An array of an account's export. Each resource provides its own with the items of its list. */
export interface ExportSection {
  /** The array's name. */
  readonly name: string;
  /** An item. */
  readonly schema: z.ZodType;
  /** All items in pages; the next page is read when the last has been sent. */
  readonly pages: (owner: ExportOwner) => AsyncIterable<readonly unknown[]>;
}
