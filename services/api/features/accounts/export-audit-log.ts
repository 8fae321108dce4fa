import type { ReadAuditEntry } from '@tocsin/shared/domain/audit/audit-entry.ts';
import { paginateAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { auditEntrySchema, toAuditEntryJson } from '@tocsin/shared/wire/audit-entry.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';

const pageSize = 500;

/**
 * The account's actions, newest first, then actions of others on the account, without the origin and the names of
 * the other accounts. The entries name topics and API keys.
 */
export function exportAuditLog({ engine: { documents } }: Pick<ApiDeps, 'engine'>): ExportSection {
  return {
    name: 'audit_log',
    scopes: ['account:read', 'keys:read', 'topics:read'],
    schema: auditEntrySchema,
    async *pages({ caller: { userId } }) {
      const shown = ({ entry, origin }: ReadAuditEntry) =>
        toAuditEntryJson({ entry, origin: origin?.userId === userId ? origin : null }, new Map());
      for await (const page of paginateAuditEntries(documents, { actor: userId }, pageSize)) yield page.map(shown);
      for await (const page of paginateAuditEntries(documents, { subject: userId }, pageSize))
        yield page.filter(({ entry }) => entry.actor !== userId).map(shown);
    },
  };
}
