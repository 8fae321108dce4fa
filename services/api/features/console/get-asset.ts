import { AppError } from '@tocsin/shared/domain/errors.ts';
import { z } from 'zod';
import { route, type Route } from '../../http/route.ts';
import { sendStaticFile, type StaticFile } from '../../http/static-file.ts';

/** `GET /assets/{file}`: scripts and styles of the pages. Throws 404 for an unknown name. */
export function getAsset(files: ReadonlyMap<string, StaticFile>): Route {
  return route({
    id: 'getAsset',
    path: '/assets/{file}',
    method: 'GET',
    summary: 'Get a script or style of the pages',
    audience: 'uncounted',
    success: { status: 200, schema: z.string(), contentType: 'text/javascript', description: 'The file' },
    handle(context) {
      const file = files.get(context.params['file']!);
      if (file === undefined) throw new AppError('not_found', 'Not found');
      return Promise.resolve(sendStaticFile(context, file));
    },
  });
}
