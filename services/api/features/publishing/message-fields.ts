import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { messageLimits, type Priority } from '@tocsin/shared/domain/messages/message.ts';
import type { RequestContext } from '../../http/route.ts';
import { decodeHeader } from './decode-header.ts';
import type { FieldParsers } from './parse-fields.ts';
import type { RenderedMessage } from './templates/rendered-message.ts';

/** What a publisher says of a message, checked against the limits. */
export interface MessageFields {
  readonly message: string;
  readonly title: string | null;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly markdown: boolean;
}

/** Headers and query parameters by which the fields may come, the first that is not empty counting. */
const aliases = {
  message: ['x-message', 'message', 'm'],
  title: ['x-title', 'title', 't'],
  priority: ['x-priority', 'priority', 'prio', 'p'],
  tags: ['x-tags', 'tags', 'tag', 'ta'],
  markdown: ['x-markdown', 'markdown', 'md'],
  template: ['x-template', 'template', 'tpl'],
} as const;

/** Those of them that a query has once; tags may be repeated. */
const singleNames: ReadonlySet<string> = new Set(
  Object.entries(aliases).flatMap(([field, names]) => (field === 'tags' ? [] : names)),
);

export interface FieldSources {
  readonly headers: IncomingHttpHeaders;
  /** By names in lower case, as headers have them. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** The request's target as it was sent: what the query's bytes were before they were decoded. */
  readonly url: string;
}

/** Where a request says what its body does not. Throws 422 for a parameter that is given twice and can mean one thing only. */
export function sourcesOf({ request, searchParams }: RequestContext): FieldSources {
  return {
    headers: request.headers,
    query: searchParams.size === 0 ? noQuery : readQuery(searchParams),
    url: request.url ?? '',
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

/** The field from headers, then from the query; undefined when neither has it. */
export function fieldOf(sources: FieldSources, field: Field): string | undefined {
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

/** A browser's or proxy's RFC 9218 `Priority: u=3, i` is about the transport, not about the message. */
function isTransportPriority(value: string): boolean {
  return /^\s*(?:u\s*=|i\s*(?:[=,;]|$))/i.test(value);
}

/** Whether a query's value held bytes that are no UTF-8: its parser puts U+FFFD in their place without a word. */
function hasLostBytes(value: string, url: string): boolean {
  return value.includes('\uFFFD') && !/%EF%BF%BD/i.test(url);
}

/**
 * All fields but the text, as headers and query say, and where they do not, as a template found them: its tags come behind
 * those that were sent, as far as there is room.
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
    markdown: () =>
      isMarkdown(fieldOf(sources, 'markdown')) || /^text\/markdown\b/i.test(sources.headers['content-type'] ?? ''),
  };
}

/** The text by header or query; ntfy's clients write a line break there as `\n`. */
export function textField(sources: FieldSources): string | undefined {
  return fieldOf(sources, 'message')?.replaceAll('\\n', '\n');
}

/** Throws 422 for an empty text or one beyond 4,000 code points. */
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

/** By words instead of 1 to 5. */
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

/** Trimmed, empty ones dropped, duplicates removed, order kept. */
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

/** Half of a surrogate pair, which JSON can write and UTF-8 cannot, could not be stored as it was sent. */
function requireWellFormed(field: string, text: string): void {
  if (!text.isWellFormed()) throw invalid(field, 'must be valid Unicode');
}

/** Counts code points only when the UTF-16 length leaves it open. */
function isLongerThan(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  if (text.length > codePoints * 2) return true;
  let count = 0;
  for (const _ of text) if (++count > codePoints) return true;
  return false;
}
