import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { emailField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { messageSchema } from './account-fields.ts';
import { mailAccountLink } from './mail-account-link.ts';

/** Sends a new verification link. Response and work are the same whether or not there is an account to verify. */
export function resendVerification(deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>): Route {
  return route({
    id: 'resendVerification',
    method: 'POST',
    path: '/auth/resend-verification',
    summary: 'Send a new verification link',
    audience: 'unread',
    body: z.object({ email: emailField }),
    success: { status: 200, schema: messageSchema, description: 'The same whether or not the email has an account' },
    handle: async (context, { body: { email } }) => {
      await mailAccountLink(deps, context, { kind: 'verify-email', email });
      return {
        status: 200,
        body: { message: 'If the address waits for verification, a new link is on its way to it' },
      };
    },
  });
}
