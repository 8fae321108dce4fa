import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';

/** All of these paths return the console, whose scripts read the URL. */
const paths: Readonly<Record<string, string>> = {
  showConsole: '/',
  showConsoleStart: '/console',
  showConsolePage: '/console/{page}',
  showConsoleItem: '/console/{page}/{item}',
  showConsoleItemPart: '/console/{page}/{item}/{part}',
  showAdmin: '/admin',
  showVerified: '/auth/verified',
  showCallback: '/auth/callback',
  showResetPassword: '/auth/reset-password',
  showUndoEmailChange: '/auth/undo-email-change',
  showAcceptInvite: '/auth/accept-invite',
};

/**
 * Only scripts and images of this server are allowed, and no other site may frame the page, so that even a message
 * that was rendered as HTML would have no effect.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** `GET /`, `/console/…` and the target pages of emails and redirects. */
export function consolePages(shell: StaticFile): Route[] {
  return Object.entries(paths).map(([id, path]) =>
    route({
      id,
      path,
      method: 'GET',
      summary: 'The console',
      audience: 'uncounted',
      success: { status: 200, schema: z.string(), contentType: 'text/html', description: 'A page' },
      handle: (context) => Promise.resolve(sendStaticFile(context, shell, headers)),
    }),
  );
}
