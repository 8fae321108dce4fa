import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomId } from '@tocsin/shared/platform/ids.ts';

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** One year: a browser that used https once never uses http again (RFC 6797). Subdomains are not included. */
const strictTransport = 'max-age=31536000';

/**
 * Sets the headers of every response. Keeps the caller's `X-Request-Id` if it has at most 128 printable
 * characters. With an https `BASE_URL` also sets Strict-Transport-Security.
 */
export function setCommonHeaders(
  { baseUrl }: { readonly baseUrl: string },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const sent = request.headers['x-request-id'];
  response.setHeader('X-Request-Id', typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomId());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  // Links contain tokens that other sites must not see.
  response.setHeader('Referrer-Policy', 'no-referrer');
  if (baseUrl.startsWith('https:')) response.setHeader('Strict-Transport-Security', strictTransport);
}
