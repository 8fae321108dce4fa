import { toAuditEntryJson } from '@tocsin/shared/domain/audit-entry.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findAuditEntries, type AuditFilter } from '@tocsin/shared/stores/find-audit-entries.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditEntrySchema } from '../../audit-entry-schema.ts';
import type { ExportSection } from '../../export-section.ts';

const pageSize = 500;

/**
 * What the account did, newest first, and then what others did to it. From where others acted is theirs and left out, as are
 * names of accounts.
 */
export function exportAuditLog({ engine: { documents } }: ApiDeps): ExportSection {
  return {
    name: 'audit_log', schema: auditEntrySchema,
    async *pages({ caller: { userId } }) {
      const shown = ({ entry, origin }: Read) => toAuditEntryJson({ entry, origin: origin?.userId === userId ? origin : null }, new Map());
      for await (const page of pagesOf(documents, { actor: userId })) yield page.map(shown);
      for await (const page of pagesOf(documents, { subject: userId })) yield page.filter(({ entry }) => entry.actor !== userId).map(shown);
    },
  };
}

type Page = Awaited<ReturnType<typeof findAuditEntries>>['entries'];
type Read = Page[number];

async function* pagesOf(documents: Documents, filter: AuditFilter): AsyncGenerator<Page, void> {
  let after: AuditFilter['after'];
  do {
    const page = await findAuditEntries(documents, { ...filter, after }, pageSize);
    yield page.entries;
    after = page.next ?? undefined;
  } while (after !== undefined);
}
