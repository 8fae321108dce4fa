import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';

/** `GET /console/service-worker.js`: its folder is the scope in which browsers allow it. */
export function getServiceWorker(file: StaticFile): Route {
  return route({
    id: 'getServiceWorker',
    path: '/console/service-worker.js',
    method: 'GET',
    summary: 'Get the script that shows pushes in browsers',
    audience: 'uncounted',
    success: { status: 200, schema: z.string(), contentType: 'text/javascript', description: 'The script' },
    handle: (context) => Promise.resolve(sendStaticFile(context, file)),
  });
}
