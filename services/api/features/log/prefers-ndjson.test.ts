import { expect, test } from '@jest/globals';
import { prefersNdjson } from './prefers-ndjson.ts';

test.each([
  'application/x-ndjson',
  'Application/X-NDJSON',
  'application/x-ndjson; charset=utf-8',
  'application/x-ndjson, */*;q=0.1',
  'application/json, application/x-ndjson',
  'application/json;q=0.5,application/x-ndjson;q=0.5',
])('%s requests NDJSON', (accept) => {
  expect(prefersNdjson(accept)).toBe(true);
});

test.each([
  undefined,
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/x-ndjson;q=0',
  'application/x-ndjson;q=x',
  'application/x-ndjson;q=0.1, application/json',
  'text/html',
])('%s does not', (accept) => {
  expect(prefersNdjson(accept)).toBe(false);
});
