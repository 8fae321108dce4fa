import { subscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';
import { smallSection } from '../../export/small-section.ts';
import { describeOwnSubscriptions } from './describe-own-subscriptions.ts';

/** The account's subscriptions in the form of their list. */
export function exportSubscriptions(deps: Pick<ApiDeps, 'engine'>): ExportSection {
  return smallSection(
    { name: 'subscriptions', scopes: ['account:read'], schema: subscriptionSchema },
    ({ caller, now }) => describeOwnSubscriptions(deps, caller, now),
  );
}
