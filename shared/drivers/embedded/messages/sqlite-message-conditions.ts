import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { foldCase, isPlain } from '../../../domain/fold-case.ts';
import { deletedContentMs, type MessageFilter } from '../../../domain/messages/message-filter.ts';

/** A WHERE condition with its parameter values in order. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SQLInputValue[];
}

/** Searches texts that SQLite cannot compare case-insensitively: texts that are not ASCII or contain NUL. */
export interface FoldedSearch {
  /** The folded search text for the connection's next statements. */
  needle: string;
}

/** Registers the function that `messageConditions` uses. */
export function addFoldedSearch(db: DatabaseSync): FoldedSearch {
  const search: FoldedSearch = { needle: '' };
  const containsNeedle = (text: unknown): boolean => typeof text === 'string' && foldCase(text).includes(search.needle);
  db.function('holds_folded', (message, title) => (containsNeedle(message) || containsNeedle(title) ? 1 : 0));
  return search;
}

/**
 * Returns the filter's condition on a row `m` of `messages`, without its topic. All parts except the text only need the
 * index `messages_by_topic`.
 */
export function messageConditions(filter: MessageFilter): Condition {
  const parts = [...visibility(filter), ...properties(filter), ...content(filter)];
  return { sql: parts.map(({ sql }) => sql).join(' AND '), params: parts.flatMap(({ params }) => params) };
}

function visibility({ includesDeleted, now }: MessageFilter): Condition[] {
  return [
    { sql: 'm.expires_at > ?', params: [now] },
    ...(includesDeleted ? [] : [{ sql: 'm.deleted_at IS NULL', params: [] }]),
  ];
}

function properties({ priorityMin, priorityMax, from, to }: MessageFilter): Condition[] {
  const bounds: [string, number | null][] = [
    ['m.priority >= ?', priorityMin],
    ['m.priority <= ?', priorityMax],
    ['m.timestamp >= ?', from],
    ['m.timestamp <= ?', to],
  ];
  return bounds.flatMap(([sql, value]) => (value === null ? [] : [{ sql, params: [value] }]));
}

function content(filter: MessageFilter): Condition[] {
  const parts = [...tags(filter.tags), ...text(filter.text)];
  if (parts.length === 0 || !filter.includesDeleted) return parts;
  return [{ sql: '(m.deleted_at IS NULL OR m.deleted_at > ?)', params: [filter.now - deletedContentMs] }, ...parts];
}

/**
 * Tags are stored as JSON. A bracket or comma followed by a quote starts a tag, because quotes within tags are escaped
 * and tags contain no comma.
 */
function tags(wanted: readonly string[]): Condition[] {
  if (wanted.length === 0) return [];
  const starts = wanted.flatMap((tag) => [`[${JSON.stringify(tag)}`, `,${JSON.stringify(tag)}`]);
  return [{ sql: `(m.tags IS NOT NULL AND (${starts.map(() => 'instr(m.tags, ?)').join(' OR ')}))`, params: starts }];
}

/**
 * LIKE folds the case of A to Z only, which suffices for plain text; its matches in other texts are also valid.
 * `holds_folded`, whose needle must be set, checks the other texts.
 */
function text(wanted: string | null): Condition[] {
  if (wanted === null) return [];
  const needle = foldCase(wanted);
  const other = '(NOT m.is_plain AND holds_folded(m.message, m.title))';
  if (!isPlain(needle)) return [{ sql: other, params: [] }];
  // ESCAPE slows each comparison, a sixth of a search (measured).
  const needsEscape = /[\\%_]/.test(needle);
  const pattern = `%${needle.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const like = (column: string) => `${column} LIKE ?${needsEscape ? " ESCAPE '\\'" : ''}`;
  return [{ sql: `(${like('m.message')} OR ${like('m.title')} OR ${other})`, params: [pattern, pattern] }];
}
