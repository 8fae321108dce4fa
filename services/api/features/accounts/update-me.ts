import { usernameKey } from '@tocsin/shared/domain/accounts/account-rules.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { write, type Changes, type Write } from '@tocsin/shared/ports/documents.ts';
import { isTakenConcurrently, freeAddressAndUsername } from '@tocsin/shared/operations/accounts/accounts.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { invalidateMailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { requestMail } from '@tocsin/shared/runtime/request-mail.ts';
import { toUserJson, userSchema } from '@tocsin/shared/wire/user.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf, auditOfSystem } from '../../audit.ts';
import { emailField } from '../../http/fields.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { usernameField } from './account-fields.ts';
import { withinAddressChangeLimits } from '../../access/mail-limits.ts';
import { confirmedLogin } from './confirmed-login.ts';
import { loadAccount } from './load-account.ts';

const body = z.object({
  username: usernameField.optional(),
  email: emailField.optional(),
  current_password: z.string().optional().describe('Required to change the email with a login older than 10 minutes.'),
});

/**
 * Changes the account's username or email. The email, which can reset the password, changes only with a recent login or
 * the current password, so that neither an API key nor a stolen login can take over the account. A new email is
 * unverified: no login until its emailed link was opened. Existing logins and keys stay valid, so that a mistyped email
 * can be corrected. The old email gets a notice with a link that undoes the change.
 */
export function updateMe(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'>,
): Route {
  const requireConfirmed = confirmedLogin(deps);
  return route({
    id: 'updateMe',
    method: 'PATCH',
    path: '/api/users/me',
    summary: 'Change the username or email of the account',
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 200, schema: userSchema, description: 'The changed account' },
    errors: {
      400: 'Malformed JSON, or the current password is wrong.',
      409: 'The username or the email is taken.',
    },
    load: (context) => loadAccount(deps, context),
    handle: async (context, { loaded, body: input }) => {
      const isMoved = input.email !== undefined && input.email !== loaded.email;
      if (isMoved) await requireConfirmed(context, loaded, input.current_password);
      const act = () => retryStale(() => change(deps, context, input), isTakenConcurrently);
      const { before, after, addressChangeId } = await (isMoved
        ? withinAddressChangeLimits(deps, context, act)
        : act());
      if (after !== before) await deps.directory.changed({ kind: 'user', userId: after.id });
      if (after.email !== before.email) {
        const requester = after.id;
        await requestMail(deps, { email: after.email, requester }, { kind: 'verify-email', userId: after.id });
        await requestMail(deps, { email: before.email, requester }, { kind: 'address-changed', addressChangeId });
      }
      return { status: 200, body: toUserJson(after, context.now) };
    },
  });
}

/** One attempt: reads the account, decides, and writes unless the account changed. */
async function change(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  input: z.output<typeof body>,
): Promise<{ before: User; after: User; addressChangeId: string }> {
  const { documents } = deps.engine;
  const addressChangeId = deps.makeId();
  const before = await loadAccount(deps, context);
  const username = input.username ?? before.username;
  const email = input.email ?? before.email;
  if (username === before.username && email === before.email) return { before, after: before, addressChangeId };
  const isNewAddress = email !== before.email;
  const set: Changes<User> = {
    username,
    usernameKey: usernameKey(username),
    ...(isNewAddress ? { email, isVerified: false } : {}),
  };
  const audit = auditOf(deps, context);
  const room = await freeAddressAndUsername(
    documents,
    { id: before.id, email, usernameKey: usernameKey(username) },
    auditOfSystem(deps),
  );
  const moves: Write[] = !isNewAddress
    ? []
    : [
        write.insert(addressChanges, {
          id: addressChangeId,
          userId: before.id,
          oldEmail: before.email,
          passwordHash: before.passwordHash,
          changedAt: context.now,
          tokenHash: null,
        }),
        ...(await invalidateMailTokens(documents, before.id)),
        ...audit({
          action: 'account.email_changed',
          subject: { id: before.id },
          details: {},
          formerEmail: before.email,
        }),
      ];
  const renamed =
    username === before.username
      ? []
      : audit({ action: 'account.username_changed', subject: { id: before.id }, details: {} });
  await documents.commit([...room, write.update(users, before, set), ...moves, ...renamed]);
  return { before, after: { ...before, ...set, version: before.version + 1 }, addressChangeId };
}
