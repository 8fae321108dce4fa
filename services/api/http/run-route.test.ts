import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { route } from './route.ts';
import { useRouteServer } from './route-server.fixtures.ts';

const lines: string[] = [];
const log = openLogger(
  'test',
  'info',
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  }),
);

/** A minimal route whose handler throws an unexpected error. */
const buggy = route({
  id: 'buggy',
  method: 'GET',
  path: '/buggy',
  summary: '',
  audience: 'uncounted',
  success: { status: 200, schema: null, description: '' },
  handle: () =>
    Promise.reject(
      Object.assign(new TypeError('cannot read /srv/tocsin/secret.ts of undefined\nat handler'), {
        query: 'token=tk_secret',
        document: { message: 'the text' },
      }),
    ),
});

const url = useRouteServer(buggy, { log });

test('a bug returns 500 without details, and its log line has the error without request data', async () => {
  const answer = await fetch(`${url()}/buggy?token=tk_secret`);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    500,
    'application/json',
    '{"detail":"Internal server error"}',
  ]);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 'error',
    msg: 'request failed because of a bug',
    err: { type: 'TypeError', message: 'cannot read /srv/tocsin/secret.ts of undefined\nat handler' },
  });
  expect(lines[0]!.trimEnd()).not.toContain('\n');
  expect(lines[0]).not.toMatch(/tk_secret|the text/);
});
