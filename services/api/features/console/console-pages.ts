import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';
import { shellName } from './console-files.ts';

/** All of these are the console, which shows by its scripts what the address says. */
const paths: Readonly<Record<string, string>> = {
  showConsole: '/',
  showConsoleStart: '/console',
  showConsolePage: '/console/{page}',
  showConsoleItem: '/console/{page}/{item}',
  showVerified: '/auth/verified',
  showCallback: '/auth/callback',
  showResetPassword: '/auth/reset-password',
  showAcceptInvite: '/auth/accept-invite',
};

/**
 * Nothing but what this server sends may run or be shown, and no other site may frame it: a message that were taken for HTML
 * could do nothing.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** `GET /`, `/console/…` and the pages that mails and redirects lead to. */
export function consolePages(files: ReadonlyMap<string, StaticFile>): Route[] {
  const shell = files.get(shellName)!;
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
