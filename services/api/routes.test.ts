import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { z } from 'zod';
import type { ApiDeps } from './api-deps.ts';
import { openApiDocument } from './http/openapi/openapi-document.ts';
import type { Route } from './http/route.ts';
import { routes } from './routes.ts';

/** Routes are created but never called, so most dependencies are missing. */
const table = routes({
  engine: { kind: 'embedded', jwtSecrets: [], vapidKeys: undefined },
  config: loadConfig({}, '/nonexistent'),
  baseUrl: '',
} as unknown as ApiDeps);

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly security: readonly Record<string, string[]>[];
  readonly requestBody?: { readonly required?: boolean };
  readonly responses: Readonly<Record<string, unknown>>;
}

const document = openApiDocument(table, '1.2.3') as { paths: Record<string, Record<string, Operation>> };

/** Returns the operation in the document, where parameters may have other names. */
function placeOf({ path, method }: Pick<Route, 'path' | 'method'>): { path: string; operation: Operation } {
  const shape = (of: string) => of.replaceAll(/\{\w+\}/g, '{}');
  const places = Object.keys(document.paths).filter((one) => shape(one) === shape(path));
  expect(places).toHaveLength(1);
  return { path: places[0]!, operation: document.paths[places[0]!]![method.toLowerCase()]! };
}

test('the document is valid OpenAPI 3.1 and all its references resolve', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect([valid, errors]).toEqual([true, undefined]);
  expect(validator.version).toBe('3.1');
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer!);
  const lost = references.filter(
    (pointer) =>
      pointer.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document) ===
      undefined,
  );
  expect(lost).toEqual([]);
});

test('the document contains every route and no other', () => {
  const documented = Object.values(document.paths).flatMap((item) =>
    Object.entries(item).map(([method, { operationId }]) => `${method.toUpperCase()} ${operationId}`),
  );
  expect(documented.sort()).toEqual(table.map(({ method, id }) => `${method} ${id}`).sort());
});

test.each(table.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s has its path parameters, scope and success status',
  (_name, route) => {
    const {
      path,
      operation: { parameters = [], security, responses, operationId },
    } = placeOf(route);
    expect(operationId).toBe(route.id);
    const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
    if (route.audience === 'account') expect(security.find(({ apiKey }) => apiKey)).toEqual({ apiKey: [route.scope] });
    if (route.audience === 'uncounted' || route.audience === 'unread') expect(security).toEqual([]);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining([String(route.success.status), '500']));
  },
);

test('a body is optional for a text publish and if no field is required', () => {
  const withBody = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ requestBody }) => requestBody !== undefined);
  expect(
    withBody.filter(({ requestBody }) => requestBody?.required !== true).map(({ operationId }) => operationId),
  ).toEqual([
    'publish',
    'publishByPut',
    'publishInSequence',
    'publishInSequenceByPut',
    'updateTopic',
    'updateSink',
    'ackMessage',
    'editMessage',
    'updateMe',
    'updateTeam',
    'changeTeamMemberRole',
    'updateDevice',
    'updateSubscription',
    'previewSubscription',
  ]);
});

test('docs/interface.md describes every route and no other, and docs/proofs.md proves each', () => {
  const between = (file: string, from: string, to: string) => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', file), 'utf8');
    return text.slice(text.indexOf(from), text.indexOf(to, text.indexOf(from) + 1));
  };
  // Pages for browsers are not operations.
  const endpoints = between('interface.md', '\n## Endpoints\n', '\n### Pages\n');
  const proofs = between('proofs.md', '\n## Operations\n', '\n## States\n');
  // A row can list several methods of a path.
  const listed = (part: string) =>
    [...part.matchAll(/^\| `([A-Z, ]+) (\/[^`]*)` \|/gm)]
      .flatMap(([, methods, path]) => methods!.split(', ').map((method) => `${method} ${path}`))
      .sort();
  const expected = table.map(({ method, path }) => `${method} ${path}`).sort();
  expect(listed(endpoints)).toEqual(expected);
  expect(listed(proofs)).toEqual(expected);
});

test("no field name in a body changes an object's prototype", () => {
  const polluted = '{"polluted":true,"isActive":true,"tier":"TEAM"}';
  for (const { id, body, reads } of table) {
    const schema = body ?? reads?.body?.schema;
    if (schema === undefined) continue;
    const example =
      ((schema.meta()?.['examples'] ?? []) as unknown[]).find((one) => typeof one === 'object' && one !== null) ?? {};
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const value = name === 'constructor' ? `{"prototype":${polluted}}` : polluted;
      const sent: unknown = JSON.parse(
        `${JSON.stringify(example).slice(0, -1)}${Object.keys(example).length === 0 ? '' : ','}"${name}":${value}}`,
      );
      const parsed = schema.safeParse(sent).data as Record<string, unknown> | undefined;
      expect({
        id,
        name,
        prototype:
          parsed !== undefined &&
          Object.getPrototypeOf(parsed) !== Object.prototype &&
          Object.getPrototypeOf(parsed) !== null,
      }).toEqual({ id, name, prototype: false });
      expect(parsed?.['polluted']).toBeUndefined();
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }
  }
});

test('every body example matches its schema', () => {
  for (const { body, reads } of table) {
    const schema = body ?? reads?.body?.schema;
    for (const example of (schema?.meta()?.['examples'] ?? []) as unknown[])
      expect((schema as z.ZodType).safeParse(example)).toMatchObject({ success: true });
  }
});

test('the document refuses a route without a tag and a repeated operation ID', () => {
  const [first] = table;
  expect(() => openApiDocument([{ ...first!, path: '/nowhere/at/all' }], '1')).toThrow(/has no tag/);
  expect(() => openApiDocument([first!, { ...first!, path: '/' }], '1')).toThrow(/two routes have the ID publish/);
});
