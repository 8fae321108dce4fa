import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { RequestContext } from '../http/route.ts';
import { withinBudgets } from './within-budgets.ts';

const hourMs = 3_600_000;

/** The maximum of emails per hour that one account or one client address causes. Prevents abuse as a mail relay. */
const mailsPerHour = { account: 60, address: 300 } as const;

/** The maximum of changes of an account's address per hour. Each sends two emails. */
const addressChangesPerHour = 10;

type LimitDeps = Pick<ApiDeps, 'clock' | 'config' | 'engine'>;

/**
 * Runs an action that sends an email, within the limits of its sender. Throws `limited`; a failed action does not
 * count.
 */
export function withinMailLimits<T>(deps: LimitDeps, context: RequestContext, act: () => Promise<T>): Promise<T> {
  return deps.config.RATE_LIMITS ? withinBudgets(deps, { sets: senderWindows(context) }, act) : act();
}

/** The same for a change of the account's address, which has a lower limit. */
export function withinAddressChangeLimits<T>(
  deps: LimitDeps,
  context: RequestContext,
  act: () => Promise<T>,
): Promise<T> {
  if (!deps.config.RATE_LIMITS) return act();
  const changes = [window('address-change', context.account().userId, addressChangesPerHour)];
  return withinBudgets(deps, { sets: [changes, ...senderWindows(context)] }, act);
}

function senderWindows(context: RequestContext): BudgetWindow[][] {
  const { caller, address } = context;
  const ofAccount = caller.kind === 'account' ? [[window('mail-account', caller.userId, mailsPerHour.account)]] : [];
  return [...ofAccount, [window('mail-address', address, mailsPerHour.address)]];
}

const window = (kind: string, holder: string, limit: number): BudgetWindow => ({
  key: `${kind}:{${holder}}`,
  limit,
  span: { lengthMs: hourMs },
});
