import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { MessageExtras } from '@tocsin/shared/domain/messages/message-extras.ts';
import { messageLimits, type Priority } from '@tocsin/shared/domain/messages/message.ts';
import { isSequenceId, sequenceIdCharactersMax } from '@tocsin/shared/domain/messages/sequence-id.ts';
import type { RequestContext } from '../../http/route.ts';
import { decodeHeader } from './decode-header.ts';
import { parseActions } from '../../http/message-extras/parse-actions.ts';
import { parseClick, parseFlag, parseIcon, parseTtl } from '../../http/message-extras/parse-extras.ts';
import { parseFields, type FieldParsers } from '../../http/message-extras/parse-fields.ts';
import { parseDelay } from './parse-delay.ts';
import type { RenderedMessage } from './templates/rendered-message.ts';

/** The publisher's fields of a message, validated. */
export interface MessageFields extends Pick<MessageExtras, 'click' | 'actions' | 'iconUrl' | 'isSilent'> {
  readonly message: string;
  readonly title: string | null;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly markdown: boolean;
  /** Milliseconds until the message expires; null: the topic's retention. */
  readonly ttlMs: number | null;
  /** The sequence of the message, then those that it continues; empty without a sequence. */
  readonly sequenceIds: readonly string[];
  /** Whether it reports the end of the alert whose messages are in these sequences. */
  readonly isResolved: boolean;
  /** When to publish it, in milliseconds since the epoch; null for now. */
  readonly scheduledFor: number | null;
}

/** Headers and query parameters of the fields; the first that is not empty counts. */
const aliases = {
  message: ['x-message', 'message', 'm'],
  title: ['x-title', 'title', 't'],
  priority: ['x-priority', 'priority', 'prio', 'p'],
  tags: ['x-tags', 'tags', 'tag', 'ta'],
  markdown: ['x-markdown', 'markdown', 'md'],
  template: ['x-template', 'template', 'tpl'],
  click: ['x-click', 'click'],
  icon: ['x-icon', 'icon', 'icon_url'],
  actions: ['x-actions', 'actions', 'action'],
  ttl: ['x-ttl', 'ttl'],
  silent: ['x-silent', 'silent'],
  sequence_id: ['x-sequence-id', 'sequence-id', 'sequence_id', 'sid'],
  delay: ['x-delay', 'delay', 'x-at', 'at', 'x-in', 'in'],
  timezone: ['x-timezone', 'timezone'],
} as const;

/** Those that a query may have only once; tags may be repeated. */
const singleNames: ReadonlySet<string> = new Set(
  Object.entries(aliases).flatMap(([field, names]) => (field === 'tags' ? [] : names)),
);

const allNames: ReadonlySet<string> = new Set(Object.values(aliases).flat());

export interface FieldSources {
  readonly headers: IncomingHttpHeaders;
  /** By lower-case name, like headers. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** Whether any header or parameter names a field. Most publishes have none, which saves a lookup of each. */
  readonly hasFields: boolean;
  /** The raw request target, to see the query's bytes before decoding. */
  readonly url: string;
  /** The time of the request, to which a delay is relative. */
  readonly now: number;
}

/** The sources of fields outside the body. Throws 422 for a repeated parameter that allows only one value. */
export function sourcesOf({ request, searchParams, now }: RequestContext): FieldSources {
  const { headers } = request;
  const query = searchParams.size === 0 ? noQuery : readQuery(searchParams);
  return {
    headers,
    query,
    hasFields: query.size > 0 || Object.keys(headers).some((name) => allNames.has(name)),
    url: request.url ?? '',
    now,
  };
}

const noQuery: ReadonlyMap<string, readonly string[]> = new Map();

function readQuery(searchParams: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  for (const [sent, value] of searchParams) {
    const name = sent.toLowerCase();
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else if (singleNames.has(name)) throw invalid(name, 'must be given once');
    else values.push(value);
  }
  return query;
}

type Field = keyof typeof aliases;

const invalid = (field: string, fault: string) => new AppError('unprocessable', `${field}: ${fault}`);

/** Returns the field from headers, then from the query; undefined if neither has it. */
export function fieldOf(sources: FieldSources, field: Field): string | undefined {
  if (!sources.hasFields) return undefined;
  for (const name of aliases[field]) {
    const value = sources.headers[name];
    if (typeof value !== 'string' || value.trim() === '') continue;
    if (name === 'priority' && isTransportPriority(value)) continue;
    return decodeHeader(value);
  }
  for (const name of sources.query.size === 0 ? [] : aliases[field]) {
    const value = (sources.query.get(name) ?? []).join(',');
    if (value.trim() === '') continue;
    if (hasLostBytes(value, sources.url)) throw invalid(name, 'must be valid UTF-8');
    return value;
  }
  return undefined;
}

/** The RFC 9218 header `Priority: u=3, i` of browsers and proxies concerns the transport, not the message. */
function isTransportPriority(value: string): boolean {
  return /^\s*(?:u\s*=|i\s*(?:[=,;]|$))/i.test(value);
}

/** Whether a query value contained bytes that are not UTF-8, which the parser silently replaces with U+FFFD. */
function hasLostBytes(value: string, url: string): boolean {
  return value.includes('\uFFFD') && !/%EF%BF%BD/i.test(url);
}

/**
 * Returns all fields except the text from headers and query, otherwise from the template. Tags of the template are
 * appended to the sent ones up to the limit.
 */
export function sideFields(
  sources: FieldSources,
  rendered?: RenderedMessage,
): FieldParsers<Omit<MessageFields, 'message'>> {
  return {
    title: () => parseTitle(fieldOf(sources, 'title') ?? rendered?.title),
    priority: () => parsePriority(fieldOf(sources, 'priority') ?? rendered?.priority),
    tags: () => {
      const tags = parseTags(fieldOf(sources, 'tags')?.split(',') ?? []);
      return rendered === undefined ? tags : [...new Set([...tags, ...rendered.tags])].slice(0, messageLimits.tags);
    },
    markdown: () => isMarkdown(fieldOf(sources, 'markdown')) || hasMarkdownType(sources),
    ...extraFields((field) => fieldOf(sources, field)),
    sequenceIds: () => givenSequence(fieldOf(sources, 'sequence_id')) ?? rendered?.sequenceIds ?? [],
    isResolved: () => rendered?.isResolved ?? false,
    scheduledFor: () => parseDelay(fieldOf(sources, 'delay'), fieldOf(sources, 'timezone'), sources.now),
  };
}

const hasMarkdownType = ({ headers }: FieldSources): boolean =>
  /^text\/markdown\b/i.test(headers['content-type'] ?? '');

/** The side fields of a request that names none. */
export const noSideFields: Omit<MessageFields, 'message'> = parseFields(
  sideFields({ headers: {}, query: noQuery, hasFields: false, url: '', now: 0 }),
);

/** Whether the side fields of the request are `noSideFields`, as in most publishes. */
export const hasNoSideFields = (sources: FieldSources): boolean => !sources.hasFields && !hasMarkdownType(sources);

type ExtraField = 'click' | 'icon' | 'actions' | 'ttl' | 'silent';

/** Returns the parsers of the fields that most messages do not have, from any source. */
export function extraFields(
  valueOf: (field: ExtraField) => unknown,
): FieldParsers<Pick<MessageFields, 'click' | 'actions' | 'iconUrl' | 'isSilent' | 'ttlMs'>> {
  const textOf = (field: ExtraField) => {
    const value = valueOf(field);
    return value === undefined || value === null ? undefined : String(value);
  };
  return {
    click: () => parseClick(textOf('click')),
    actions: () => parseActions(valueOf('actions')),
    iconUrl: () => parseIcon(textOf('icon')),
    isSilent: () => parseFlag('silent', textOf('silent')),
    ttlMs: () => parseTtl(textOf('ttl')),
  };
}

/** The sequence that a request names, or null. Throws 422 unless it is at most 128 of the allowed characters. */
export function givenSequence(value: string | null | undefined): [string] | null {
  const id = value?.trim() ?? '';
  return id === '' ? null : [requireSequenceId(id)];
}

/** Returns the sequence ID; throws 422 unless it is one. */
export function requireSequenceId(id: string): string {
  if (!isSequenceId(id)) throw invalid('sequence_id', `must be 1 to ${sequenceIdCharactersMax} of A-Z a-z 0-9 . _ -`);
  return id;
}

/** The text from header or query; ntfy's clients write a line break as `\n`. */
export function textField(sources: FieldSources): string | undefined {
  return fieldOf(sources, 'message')?.replaceAll('\\n', '\n');
}

/** Throws 422 for an empty text or more than 4,000 code points. */
export function parseText(text: string | undefined): string {
  if (text === undefined || text === '') throw invalid('message', 'is required: send it as the body');
  requireWellFormed('message', text);
  if (isLongerThan(text, messageLimits.textCodePoints))
    throw invalid('message', `must be at most ${messageLimits.textCodePoints} characters`);
  return text;
}

export function parseTitle(title: string | null | undefined): string | null {
  if (title === undefined || title === null || title.trim() === '') return null;
  requireWellFormed('title', title);
  if (isLongerThan(title, messageLimits.titleCodePoints))
    throw invalid('title', `must be at most ${messageLimits.titleCodePoints} characters`);
  return title;
}

/** Names for 1 to 5. */
export const priorityNames: ReadonlyMap<string, Priority> = new Map([
  ['min', 1],
  ['low', 2],
  ['default', 3],
  ['high', 4],
  ['max', 5],
  ['urgent', 5],
]);

export function parsePriority(value: string | number | null | undefined): Priority {
  if (value === undefined || value === null || value === '') return 3;
  const text = String(value).trim().toLowerCase();
  const named = priorityNames.get(text);
  if (named !== undefined) return named;
  if (!/^[1-5]$/.test(text)) throw invalid('priority', 'must be 1 to 5, or min, low, default, high, max or urgent');
  return Number(text) as Priority;
}

/** Trims tags and drops empty and duplicate ones, keeping the order. */
export function parseTags(values: readonly string[]): string[] {
  if (values.length === 0) return [];
  const tags = [...new Set(values.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  for (const tag of tags) requireWellFormed('tags', tag);
  if (tags.length > messageLimits.tags) throw invalid('tags', `must be at most ${messageLimits.tags}`);
  if (tags.some((tag) => isLongerThan(tag, messageLimits.tagCodePoints))) {
    throw invalid('tags', `each must be at most ${messageLimits.tagCodePoints} characters`);
  }
  return tags;
}

export function isMarkdown(value: string | undefined): boolean {
  return value !== undefined && /^(1|yes|true)$/i.test(value.trim());
}

/** A lone surrogate, which JSON can express and UTF-8 cannot, could not be stored unchanged. */
function requireWellFormed(field: string, text: string): void {
  if (!text.isWellFormed()) throw invalid(field, 'must be valid Unicode');
}

/** Counts code points only if the UTF-16 length does not decide. */
function isLongerThan(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  if (text.length > codePoints * 2) return true;
  let count = 0;
  for (const _ of text) if (++count > codePoints) return true;
  return false;
}
