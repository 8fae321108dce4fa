import type { PageName } from './escalation-state.ts';

/**
 * Returns the key under which the delivery ledger records a page: the message's ID for its first push, so that each
 * repeat and each step has its own claims and outcomes.
 */
export function ledgerKey(messageId: string, page: PageName | undefined): string {
  return page === undefined ? messageId : `${messageId}.${page.kind}.${page.round}.${page.number}`;
}
