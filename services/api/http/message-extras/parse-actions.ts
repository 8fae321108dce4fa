import { AppError } from '@tocsin/shared/domain/errors.ts';
import {
  extrasLimits,
  httpActionMethods,
  type HttpAction,
  type MessageAction,
} from '@tocsin/shared/domain/messages/message-extras.ts';
import { z } from 'zod';
import { parseUrl } from './parse-extras.ts';
import { readShortActions } from './short-actions.ts';

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** An action before validation, from JSON or the short form. Other fields of ntfy are ignored. */
const rawActionSchema = z.object({
  action: z.string('must name its kind'),
  label: z.string().nullish(),
  url: z.string().nullish(),
  clear: text.nullish(),
  method: z.string().nullish(),
  headers: z.record(z.string(), text).nullish(),
  body: z.union([text, z.record(z.string(), z.unknown()).transform((value) => JSON.stringify(value))]).nullish(),
});

/** Kinds of ntfy that only its Android app can run. */
const droppedKinds = new Set(['broadcast', 'copy']);

/**
 * Parses the actions of a message: ntfy's JSON array, or its short form (`view, Open, https://…; http, …`). Throws 422
 * that names the action and the rule.
 */
export function parseActions(value: unknown): readonly MessageAction[] {
  const raw = typeof value === 'string' ? readText(value) : (value ?? []);
  if (!Array.isArray(raw)) throw invalid('must be an array, or text in the short form');
  // Limits the work on an array that is refused.
  if (raw.length > 100) throw tooMany();
  const actions = raw.flatMap((one: unknown, index) => parseAction(one, `action ${index + 1}`));
  if (actions.length > extrasLimits.actions) throw tooMany();
  return actions;
}

function readText(value: string): unknown {
  const trimmed = value.trim();
  if (!trimmed.startsWith('[')) return readShortActions(trimmed);
  try {
    return JSON.parse(trimmed);
  } catch {
    throw invalid('must be valid JSON, or text in the short form');
  }
}

function parseAction(value: unknown, place: string): MessageAction[] {
  const parsed = rawActionSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${place}: ${issue!.path.length === 0 ? 'must be an object' : `${issue!.path.join('.')}: invalid`}`);
  }
  const raw = parsed.data;
  const kind = raw.action.trim().toLowerCase();
  if (droppedKinds.has(kind)) return [];
  const label = parseLabel(raw.label, place);
  switch (kind) {
    case 'ack':
      return [{ action: 'ack', label }];
    case 'view':
      return [{ action: 'view', label, url: parseActionUrl(raw.url, place), clear: parseClear(raw.clear, place) }];
    case 'http':
      return [
        {
          action: 'http',
          label,
          url: parseActionUrl(raw.url, place, (protocol) => protocol === 'https:' || protocol === 'http:'),
          ...parseRequest(raw, place),
          clear: parseClear(raw.clear, place),
        },
      ];
    default:
      throw invalid(`${place}: must be view, http or ack`);
  }
}

function parseLabel(label: string | null | undefined, place: string): string {
  const trimmed = label?.trim() ?? '';
  if (trimmed === '') throw invalid(`${place}: label is required`);
  requireText(trimmed, extrasLimits.actionLabelCodePoints, `${place}: label`);
  return trimmed;
}

function parseActionUrl(
  value: string | null | undefined,
  place: string,
  isAllowed?: (protocol: string) => boolean,
): string {
  const url = parseUrl(`actions: ${place}: url`, value, isAllowed);
  if (url === null) throw invalid(`${place}: url is required`);
  return url;
}

function parseClear(value: string | null | undefined, place: string): boolean {
  const given = value?.trim().toLowerCase() ?? '';
  if (['1', 'yes', 'true'].includes(given)) return true;
  if (['', '0', 'no', 'false'].includes(given)) return false;
  throw invalid(`${place}: clear must be true or false`);
}

function parseRequest(
  raw: z.output<typeof rawActionSchema>,
  place: string,
): Pick<HttpAction, 'method' | 'headers' | 'body'> {
  const method = (raw.method?.trim() || 'POST').toUpperCase() as HttpAction['method'];
  if (!httpActionMethods.includes(method)) throw invalid(`${place}: method must be ${httpActionMethods.join(', ')}`);
  const body = raw.body === undefined || raw.body === null || raw.body === '' ? null : raw.body;
  if (body !== null) {
    if (method === 'GET') throw invalid(`${place}: a GET request has no body`);
    requireText(body, extrasLimits.actionBodyCodePoints, `${place}: body`);
  }
  const headers = Object.entries(raw.headers ?? {});
  if (headers.length > extrasLimits.actionHeaders)
    throw invalid(`${place}: at most ${extrasLimits.actionHeaders} headers`);
  for (const [name, value] of headers) requireHeader(name, value, place);
  return { method, headers: Object.fromEntries(headers), body };
}

/** RFC 9110 §5.1: the name is a token, and the value has no line breaks. */
function requireHeader(name: string, value: string, place: string): void {
  const isName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name) && name !== '__proto__';
  const isValue =
    value.isWellFormed() && !/[\r\n\0]/.test(value) && value.length <= extrasLimits.actionHeaderCharacters;
  if (!isName || !isValue) throw invalid(`${place}: headers.${name.slice(0, 128)} is not a valid header`);
}

function requireText(value: string, codePointsMax: number, field: string): void {
  if (!value.isWellFormed()) throw invalid(`${field} must be valid Unicode`);
  if ([...value.slice(0, codePointsMax * 2 + 1)].length > codePointsMax)
    throw invalid(`${field} must be at most ${codePointsMax} characters`);
}

const tooMany = () => invalid(`must be at most ${extrasLimits.actions}`);
const invalid = (fault: string) => new AppError('unprocessable', `actions: ${fault}`);
