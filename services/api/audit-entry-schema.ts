import { auditActionNames } from '@tocsin/shared/domain/audit/audit-actions.ts';
import { z } from 'zod';

const nameless = z.string().nullable();

/** An entry of the audit log, as the operator and an account's export show it. */
export const auditEntrySchema = z
  .object({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    action: z.enum(auditActionNames),
    actor: z.object({
      type: z.enum(['account', 'operator', 'system', 'anonymous']),
      id: z.uuid().nullable().describe('The account; null for who is none.'),
      name: nameless.describe('Its username now; null without one.'),
      through: z
        .string()
        .describe(
          'By what the actor proved to be who it is: `password`, `google`, `apple`, `login`, `api_key`, `mail_link`, `refresh_token`, `admin_token`, `cli`, `server` or `nothing`.',
        ),
      credential_id: nameless.describe('The API key, or the login.'),
    }),
    origin: z.object({
      address: nameless.describe(
        'As the server saw it; null where it was not over HTTP, and once the account is gone.',
      ),
      user_agent: nameless.describe('At most 200 characters.'),
    }),
    subject: z.object({ type: z.string(), id: z.uuid(), name: nameless }).nullable(),
    within: z.object({ type: z.string(), id: z.uuid() }).nullable().describe('What the subject belongs to.'),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' });
