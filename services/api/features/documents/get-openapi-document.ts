import { z } from 'zod';
import { openApiDocument } from '../../http/openapi/openapi-document.ts';
import { route, type Route } from '../../http/route.ts';
import { keptBriefly, sendStaticFile, staticFile, type StaticFile } from '../../http/static-file.ts';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';

/** `GET /openapi.json`: the document of all routes, created at the first request. */
export function getOpenApiDocument(table: () => readonly Route[]): Route {
  let file: StaticFile | undefined;
  return route({
    id: 'getOpenApiDocument',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    audience: 'uncounted',
    success: {
      status: 200,
      schema: z.looseObject({
        openapi: z.string(),
        info: z.looseObject({ version: z.string() }),
        paths: z.looseObject({}),
      }),
      description: 'OpenAPI 3.1',
    },
    handle(context) {
      file ??= staticFile('openapi.json', JSON.stringify(openApiDocument(table(), packageVersion)), keptBriefly);
      return Promise.resolve(sendStaticFile(context, file));
    },
  });
}
