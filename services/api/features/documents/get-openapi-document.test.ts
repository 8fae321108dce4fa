import { expect, test } from '@jest/globals';
import type { RequestContext } from '../../http/route.ts';
import { getOpenApiDocument } from './get-openapi-document.ts';

/** Handles a request and returns the sent body. */
async function bodyOf(document: ReturnType<typeof getOpenApiDocument>, headers: object): Promise<unknown> {
  let body: unknown;
  const response = { setHeader: () => undefined, end: (sent: unknown) => (body = sent) };
  await document.handle({ request: { headers }, response } as unknown as RequestContext, {} as never);
  return body;
}

test.each([{}, { 'accept-encoding': 'gzip' }])('all responses with %j share one buffer', async (headers) => {
  let tables = 0;
  const document = getOpenApiDocument(() => {
    tables += 1;
    return [];
  });
  const first = await bodyOf(document, headers);
  expect(first).toBeInstanceOf(Buffer);
  for (let request = 0; request < 3; request += 1) expect(await bodyOf(document, headers)).toBe(first);
  expect(tables).toBe(1);
});
