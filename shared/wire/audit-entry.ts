import { z } from 'zod';
import { auditActionNames } from '../domain/audit/audit-actions.ts';
import { auditActorKinds, isAccountActor, type ReadAuditEntry } from '../domain/audit/audit-entry.ts';
import { toIso } from '../domain/to-iso.ts';

const nullableText = z.string().nullable();

/** An entry of the audit log in responses to the operator and in the data export of an account. */
export const auditEntrySchema = z
  .object({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    action: z.enum(auditActionNames),
    actor: z.object({
      type: z.enum(['account', ...auditActorKinds]),
      id: z.uuid().nullable().describe('Account ID. Null if the actor has no account.'),
      name: nullableText.describe('Current username. Null if the actor has none.'),
      through: z
        .string()
        .describe(
          'How the actor was authenticated: `password`, `google`, `apple`, `login`, `api_key`, `mail_link`, `push`, `topic_token`, `refresh_token`, `admin_token`, `cli`, `server` or `nothing`.',
        ),
      credential_id: nullableText.describe('ID of the API key or login session.'),
    }),
    origin: z.object({
      address: nullableText.describe(
        'Client address. Null if the action did not come over HTTP, or if the account no longer exists.',
      ),
      user_agent: nullableText.describe('At most 200 characters.'),
    }),
    subject: z.object({ type: z.string(), id: z.uuid(), name: nullableText }).nullable(),
    within: z.object({ type: z.string(), id: z.uuid() }).nullable().describe('The resource that contains the subject.'),
    details: z.record(z.string(), z.unknown()),
    count: z
      .int()
      .describe('The number of identical actions. Above 1 if the same action was repeated many times within a minute.'),
  })
  .meta({ id: 'AuditEntry' });

export type AuditEntryJson = z.infer<typeof auditEntrySchema>;

/** Returns the entry. `usernames` maps account IDs to usernames; the name of a missing account is null. */
export function toAuditEntryJson(
  { entry, origin }: ReadAuditEntry,
  usernames: ReadonlyMap<string, string>,
): AuditEntryJson {
  const { actor, subjectType, subjectId, withinType, withinId } = entry;
  const isByAccount = isAccountActor(actor);
  const nameOf = (id: string): string | null => usernames.get(id) ?? null;
  return {
    id: entry.id,
    timestamp: toIso(entry.at),
    action: entry.action,
    actor: {
      type: isByAccount ? 'account' : (actor as (typeof auditActorKinds)[number]),
      id: isByAccount ? actor : null,
      name: isByAccount ? nameOf(actor) : null,
      through: entry.through,
      credential_id: entry.credentialId,
    },
    origin: { address: origin?.address ?? null, user_agent: origin?.userAgent ?? null },
    subject:
      subjectId === null
        ? null
        : {
            type: subjectType!,
            id: subjectId,
            name: subjectType === 'account' ? nameOf(subjectId) : entry.subjectName,
          },
    within: withinId === null ? null : { type: withinType!, id: withinId },
    details: {
      ...entry.details,
      ...(entry.action === 'account.email_changed' || entry.action === 'account.email_change_undone'
        ? { former_email: origin?.formerEmail ?? null }
        : {}),
    },
    count: entry.count ?? 1,
  };
}
