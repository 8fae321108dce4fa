import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { reachesTier } from '@tocsin/shared/domain/accounts/tiers.ts';

/** Throws 403 for a caller below the TEAM tier, which creating and reactivating teams requires. */
export function requireTeamTier(caller: AccountCaller): void {
  if (!reachesTier(caller.tier, 'TEAM')) throw new AppError('forbidden', 'Requires the TEAM tier or higher');
}
