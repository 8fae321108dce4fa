import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { emailField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { messageSchema } from './account-fields.ts';
import { mailAccountLink } from './mail-account-link.ts';

/** Sends a password reset link. Response and work are the same whether or not the email has an account. */
export function requestPasswordReset(deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>): Route {
  return route({
    id: 'requestPasswordReset',
    method: 'POST',
    path: '/auth/password-reset/request',
    summary: 'Send a password reset link',
    audience: 'unread',
    body: z.object({ email: emailField }),
    success: { status: 200, schema: messageSchema, description: 'The same whether or not the email has an account' },
    handle: async (context, { body: { email } }) => {
      await mailAccountLink(deps, context, { kind: 'password-reset', email });
      return {
        status: 200,
        body: { message: 'If the address has an account, a link for a new password is on its way to it' },
      };
    },
  });
}
