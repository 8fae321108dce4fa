import { OpenApiChecker, type Document } from '../conformance/openapi-checker.ts';
import { testStack } from './stack.ts';

const pagePath = /^\/(console|docs|assets)(\/|$)|^\/admin$/;
/** Read before the environment of the suite replaces `fetch`. */
const plainFetch = globalThis.fetch;
let checker: Promise<OpenApiChecker> | undefined;

async function loadChecker(): Promise<OpenApiChecker> {
  const answer = await plainFetch(`${testStack().urls[0]}/openapi.json`);
  return new OpenApiChecker((await answer.json()) as Document);
}

/**
 * The `fetch` of the acceptance suite. Checks every API response against the OpenAPI document of the shared stack and
 * throws on an undocumented status, header, content type or body.
 */
export const fetchChecked: typeof fetch = async (input, init) => {
  const answer = await plainFetch(input, init);
  const request = input instanceof Request ? input : undefined;
  const method = init?.method ?? request?.method ?? 'GET';
  const url = new URL(request?.url ?? String(input));
  // The document does not cover other servers and preflights.
  const isOurs = answer.headers.has('x-request-id');
  const isPreflight =
    method === 'OPTIONS' && new Headers(init?.headers ?? request?.headers).has('access-control-request-method');
  // Pages and their files are not operations. Only they have an ETag; the redirect to a topic's page has the topic's
  // URL.
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
