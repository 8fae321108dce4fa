import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomId } from '@tocsin/shared/platform/ids.ts';

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** A year: a browser that came by https once never comes by http again (RFC 6797). Other hosts are not ours to promise for. */
const strictTransport = 'max-age=31536000';

/**
 * Sets what every answer carries, whatever it is. A caller's own `X-Request-Id` is kept when it is one of at most 128 printable
 * characters. Where the public address is https, browsers are told to keep to it.
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
  // Links of ours bear tokens, and no other site is to read them.
  response.setHeader('Referrer-Policy', 'no-referrer');
  if (baseUrl.startsWith('https:')) response.setHeader('Strict-Transport-Security', strictTransport);
}
