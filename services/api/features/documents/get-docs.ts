import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';

/**
 * Everything comes from this server, and is asked of it alone. No script that stands in the page counts. Styles do: the explorer
 * makes some of its own.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** `GET /docs`: `/openapi.json` as a page to read and to try. */
export function getDocs(page: StaticFile): Route {
  return route({
    id: 'getDocs',
    path: '/docs',
    method: 'GET',
    summary: 'The interface as a page',
    audience: 'uncounted',
    success: { status: 200, schema: z.string(), contentType: 'text/html', description: 'A page' },
    handle: (context) => Promise.resolve(sendStaticFile(context, page, headers)),
  });
}
