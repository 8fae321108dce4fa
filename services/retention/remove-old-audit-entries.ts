import { auditEntries, auditOrigins } from '@tocsin/shared/collections/audit-log.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Removes entries of the audit log after AUDIT_RETENTION_DAYS, with their personal data. */
export async function removeOldAuditEntries(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const time = deps.clock() - deps.auditRetentionMs;
  const origins = await removeOlder(deps, limit, { collection: auditOrigins, index: 'byTime', time });
  const entries = await removeOlder(deps, limit, { collection: auditEntries, index: 'byTime', time });
  return { removed: entries.removed, hasMore: origins.hasMore || entries.hasMore };
}
