import { expect, test } from '@jest/globals';
import { OpenApiChecker, type Observed } from './openapi-checker.ts';

const thing = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] };
const checker = new OpenApiChecker({
  paths: {
    '/things/{id}': {
      get: {
        responses: {
          200: {
            headers: { 'X-Total-Count': { $ref: '#/components/headers/X-Total-Count' } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          404: { $ref: '#/components/responses/NotFound' },
        },
      },
    },
    '/things/all': { delete: { responses: { 204: {} } } },
  },
  components: {
    schemas: { Thing: thing },
    headers: { 'X-Total-Count': { required: true, schema: { type: 'integer' } } },
    responses: {
      NotFound: {
        content: {
          'application/json': {
            schema: { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] },
          },
        },
      },
    },
  },
});

const id = '01a1fdd3-3358-7000-9bff-f8f39a0bcf16';
const json = (body: unknown) => JSON.stringify(body);
function faultsOf({
  count = '1',
  type = 'application/json; charset=utf-8',
  ...answer
}: Partial<Observed> & { count?: string; type?: string }): string[] {
  return checker.faults({
    method: 'GET',
    path: '/things/7',
    status: 200,
    text: json({ id }),
    ...answer,
    headers: new Headers({ ...(count === '' ? {} : { 'X-Total-Count': count }), 'Content-Type': type }),
  });
}

test('accepts responses that match the document, also for HEAD and with a trailing slash', () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ path: '/things/7/' })).toEqual([]);
  expect(faultsOf({ method: 'HEAD', text: '' })).toEqual([]);
  expect(faultsOf({ status: 404, text: json({ detail: 'no' }) })).toEqual([]);
  expect(faultsOf({ method: 'DELETE', path: '/things/all', status: 204, text: '', type: '' })).toEqual([]);
});

test.each([
  ['a status', { status: 201 }, 'the status 201 is not documented'],
  ['a content type', { type: 'text/html' }, 'a body of "text/html" is not documented'],
  [
    'an undocumented body',
    { method: 'DELETE', path: '/things/all', status: 204 },
    'the document knows no body, and there is one of application/json',
  ],
  ['a missing header', { count: '' }, 'the header X-Total-Count is missing'],
  ['a header that is not a number', { count: 'many' }, 'the header X-Total-Count is "many"'],
  ['a missing field', { text: json({}) }, `body must have required property 'id' {"missingProperty":"id"}`],
  [
    'an extra field',
    { text: json({ id, more: 1 }) },
    'body must NOT have additional properties {"additionalProperty":"more"}',
  ],
  ['a format', { text: json({ id: '7' }) }, 'body/id must match format "uuid" {"format":"uuid"}'],
  [
    'an error with another structure',
    { status: 404, text: json({ error: 'no' }) },
    `body must have required property 'detail' {"missingProperty":"detail"}`,
  ],
  ['a method', { method: 'PUT' }, 'the path has no PUT in the document, and the answer is a 200'],
  ['a path', { path: '/nowhere' }, 'there is no such path in the document, and the answer is a 200'],
])('reports %s that the document does not contain', (_what, answer, fault) => {
  expect(faultsOf(answer)).toContain(fault);
});

test('accepts errors for unknown operations', () => {
  expect(faultsOf({ path: '/nowhere', status: 404, text: json({ detail: 'Not found' }) })).toEqual([]);
  expect(faultsOf({ method: 'PUT', status: 405, text: json({ detail: 'Method not allowed' }) })).toEqual([]);
});
