import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { z } from 'zod';

/** Whose data is exported. */
export interface ExportOwner {
  /** As by a login, whatever the credential is: an export shows what its user may see. */
  readonly caller: AccountCaller;
  /** When the export began, milliseconds since the epoch. */
  readonly now: number;
}

/** An array of an account's export. Each resource brings its own, with the items that its list shows. */
export interface ExportSection {
  /** The array's name. */
  readonly name: string;
  /** An item. */
  readonly schema: z.ZodType;
  /** All items, in pages that are read one at a time; the next one when the last has been sent. */
  readonly pages: (owner: ExportOwner) => AsyncIterable<readonly unknown[]>;
}
