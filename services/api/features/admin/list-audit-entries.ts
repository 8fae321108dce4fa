import { auditActionNames } from '@tocsin/shared/domain/audit/audit-actions.ts';
import { auditCursorPattern, parseAuditCursor, formatAuditCursor } from '@tocsin/shared/domain/audit/audit-entry.ts';
import {
  findAuditActor,
  findAuditEntries,
  findAuditNames,
} from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { auditEntrySchema, toAuditEntryJson } from '@tocsin/shared/wire/audit-entry.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { uuidField } from '../../http/fields.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';

/** An account by ID or email, or another kind of actor. Values with an at sign are looked up as emails. */
const actorForm =
  /^(operator|system|anonymous|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[^@\s]{1,64}@[^@\s]{1,190})$/;

const query = z
  .object({
    since: timeField('startOfDay').optional().describe('Not before this time; a bare date is the start of its day.'),
    until: timeField('endOfDay').optional().describe('Not after this time; a bare date is the end of its day.'),
    actor: z
      .string()
      .regex(actorForm, 'must be the id or the address of an account, operator, system or anonymous')
      .optional()
      .describe('The actor: the ID or email of an account, `operator`, `system` or `anonymous`.'),
    action: z.enum(auditActionNames).optional(),
    subject: uuidField
      .optional()
      .describe('The subject or its parent: the ID of an account, key, token, topic, message, team or invite.'),
    limit: queryInteger({ min: 1, max: 1_000 }).default(100),
    cursor: z
      .string()
      .regex(auditCursorPattern, 'must be the next_cursor of a page')
      .optional()
      .describe('`next_cursor` of the previous page.'),
  })
  .superRefine(({ since, until }, context) => {
    if (since !== undefined && until !== undefined && since > until) {
      context.addIssue({ code: 'custom', path: ['since'], message: 'must not be after until' });
    }
  });

/** `GET /admin/audit`: the audit log, newest first. 404 `User not found` for an unknown email. */
export function listAuditEntries(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listAuditEntries',
    method: 'GET',
    path: '/admin/audit',
    summary: 'Read the audit log: who did what, when and from where',
    description:
      'Newest first. Entries match all given filters. Continue with `next_cursor` until it is null: with selective filters a page can be short or empty before the end.',
    audience: 'operator',
    query,
    success: {
      status: 200,
      schema: z.object({ entries: z.array(auditEntrySchema), next_cursor: z.string().nullable() }),
      description: 'A page of entries and the cursor of the next page; null at the end',
    },
    errors: { 404: 'No account has the email.' },
    handle: async (_context, { query: { actor, cursor, limit, ...filter } }) => {
      const { documents } = deps.engine;
      const by = actor === undefined ? undefined : await findAuditActor(documents, actor);
      const page = await findAuditEntries(
        documents,
        { ...filter, actor: by, after: cursor === undefined ? undefined : parseAuditCursor(cursor) },
        limit,
      );
      const names = await findAuditNames(documents, page.entries);
      return {
        status: 200,
        body: {
          entries: page.entries.map((entry) => toAuditEntryJson(entry, names)),
          next_cursor: page.next === null ? null : formatAuditCursor(page.next),
        },
      };
    },
  });
}
