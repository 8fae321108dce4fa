import { z } from 'zod';
import type { FieldSources } from './message-fields.ts';

/** The fields of ntfy that have no effect, in the order of `X-Ignored`, with their headers and query parameters. */
const ignoredAliases = {
  attach: ['x-attach', 'attach', 'a'],
  filename: ['x-filename', 'filename', 'file', 'f'],
  email: ['x-email', 'x-e-mail', 'email', 'e-mail', 'mail', 'e'],
  call: ['x-call', 'call'],
  cache: ['x-cache', 'cache'],
  firebase: ['x-firebase', 'firebase'],
} as const;

type IgnoredField = keyof typeof ignoredAliases;
const fields = Object.keys(ignoredAliases) as IgnoredField[];
const fieldByName: ReadonlyMap<string, IgnoredField> = new Map(
  fields.flatMap((field) => ignoredAliases[field].map((name) => [name, field] as const)),
);

const ofJson = z.unknown().optional().describe('Has no effect: `X-Ignored` of the response names it.');

/** The same fields of a JSON publish, with any value. */
export const ignoredJsonFields = {
  attach: ofJson,
  filename: ofJson,
  email: ofJson,
  call: ofJson,
  cache: ofJson,
  firebase: ofJson,
} satisfies Record<IgnoredField, z.ZodType>;

/** For the OpenAPI document. */
export const ignoredHeader = {
  'X-Ignored': `The sent fields of ntfy that Tocsin does not support, comma-separated: ${fields.map((field) => `\`${field}\``).join(', ')}. Absent without such fields.`,
};

/**
 * Returns the header that names the sent fields without effect, so that the publisher does not wait for it; empty
 * without such fields. Empty values count as absent, as for other fields.
 */
export function headerOfIgnored(
  { headers, query }: Pick<FieldSources, 'headers' | 'query'>,
  json: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  const given = new Set<IgnoredField>();
  const addIfGiven = (name: string, values: readonly unknown[]) => {
    const field = fieldByName.get(name);
    if (field !== undefined && values.some(isGiven)) given.add(field);
  };
  for (const name of Object.keys(headers)) addIfGiven(name, [headers[name]]);
  for (const [name, values] of query) addIfGiven(name, values);
  for (const field of Object.keys(json)) addIfGiven(field, [json[field]]);
  return given.size === 0 ? {} : { 'X-Ignored': fields.filter((field) => given.has(field)).join(',') };
}

const isGiven = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== undefined && value !== null;
