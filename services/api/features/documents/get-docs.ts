import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';

/**
 * Everything is loaded from this server. Inline scripts are blocked. Inline styles are allowed, because the explorer
 * creates some.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** `GET /docs`: `/openapi.json` as an interactive page. */
export function getDocs(page: StaticFile): Route {
  return route({
    id: 'getDocs',
    path: '/docs',
    method: 'GET',
    summary: 'Show the API reference',
    audience: 'uncounted',
    success: { status: 200, schema: z.string(), contentType: 'text/html', description: 'A page' },
    handle: (context) => Promise.resolve(sendStaticFile(context, page, headers)),
  });
}
