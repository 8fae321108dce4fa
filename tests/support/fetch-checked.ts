import { OpenApiChecker, type Document } from '../conformance/openapi-checker.ts';
import { testStack } from './stack.ts';

const pagePath = /^\/(console|docs|assets)(\/|$)/;
let checker: Promise<OpenApiChecker> | undefined;

async function loadChecker(): Promise<OpenApiChecker> {
  const answer = await fetch(`${testStack().urls[0]}/openapi.json`);
  return new OpenApiChecker((await answer.json()) as Document);
}

/**
 * `fetch` as the acceptance suite has it. Holds every answer of the API against the document that the shared stack gives out: a
 * status, a header, a content type or a body that it does not tell of is thrown.
 */
export const fetchChecked: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const request = input instanceof Request ? input : undefined;
  const method = init?.method ?? request?.method ?? 'GET';
  const url = new URL(request?.url ?? String(input));
  // Other servers that tests talk to are not the document's matter, nor are preflights.
  const isOurs = answer.headers.has('x-request-id');
  const isPreflight =
    method === 'OPTIONS' && new Headers(init?.headers ?? request?.headers).has('access-control-request-method');
  // Pages and their files are no operations. Only they have an ETag; the way to a topic's page has the topic's address.
  const isPage =
    answer.headers.has('etag') ||
    answer.headers.get('location')?.startsWith('/console/') === true ||
    pagePath.test(url.pathname);
  if (!isOurs || isPreflight || isPage) return answer;
  checker ??= loadChecker();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  const text = isJson ? await answer.clone().text() : undefined;
  const faults = (await checker).faults({
    method,
    path: url.pathname,
    status: answer.status,
    headers: answer.headers,
    text,
  });
  if (faults.length > 0)
    throw new Error(`${method} ${url.pathname} is not as /openapi.json says:\n  ${faults.join('\n  ')}`);
  return answer;
};
