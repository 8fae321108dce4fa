import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomId } from '@tocsin/shared/platform/ids.ts';

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** Sets what every answer carries, whatever it is. A caller's own `X-Request-Id` is kept when it is one of at most 128 printable characters. */
export function setCommonHeaders(request: IncomingMessage, response: ServerResponse): void {
  const sent = request.headers['x-request-id'];
  response.setHeader('X-Request-Id', typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomId());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
}
