import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { z } from 'zod';

/** The exported account. */
export interface ExportOwner {
  /** Like a login: a section whose scopes the credential has contains everything that its user may see. */
  readonly caller: AccountCaller;
  /** The start of the export, Unix time in milliseconds. */
  readonly now: number;
}

/** An array of an account's export. Each resource provides its own with the items of its list. */
export interface ExportSection {
  /** The array's name. */
  readonly name: string;
  /** The scopes that an API key needs for everything in the section. */
  readonly scopes: readonly Scope[];
  /** An item. */
  readonly schema: z.ZodType;
  /** All items in pages; the next page is read when the last has been sent. */
  readonly pages: (owner: ExportOwner) => AsyncIterable<readonly unknown[]>;
}
