import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { foldCase, isPlain } from '../../../domain/fold-case.ts';
import { deletedContentMs, type MessageFilter } from '../../../domain/messages/message-filter.ts';

/** Part of a WHERE, with the values of its parameters in order. */
export interface Condition {
  readonly sql: string;
  readonly bound: readonly SQLInputValue[];
}

/** Looks into texts that SQLite cannot compare without regard to case: those that are not ASCII, and those with NUL. */
export interface FoldedSearch {
  /** The folded text that the connection's next statements look for. */
  needle: string;
}

/** Gives the connection the function that `messageConditions` calls. */
export function addFoldedSearch(db: DatabaseSync): FoldedSearch {
  const search: FoldedSearch = { needle: '' };
  const holds = (text: unknown): boolean => typeof text === 'string' && foldCase(text).includes(search.needle);
  db.function('holds_folded', (message, title) => (holds(message) || holds(title) ? 1 : 0));
  return search;
}

/**
 * What the filter asks of a row `m` of `messages`, its topic aside. All but the text is answered by the index
 * `messages_by_topic` alone.
 */
export function messageConditions(filter: MessageFilter): Condition {
  const parts = [...visibility(filter), ...properties(filter), ...content(filter)];
  return { sql: parts.map(({ sql }) => sql).join(' AND '), bound: parts.flatMap(({ bound }) => bound) };
}

/** Whether the filter lets through everything that history shows, so that what is counted already need not be again. */
export function isUnconditional(filter: MessageFilter): boolean {
  return !filter.includesDeleted && properties(filter).length === 0 && content(filter).length === 0;
}

function visibility({ includesDeleted, now }: MessageFilter): Condition[] {
  return [
    { sql: 'm.expires_at > ?', bound: [now] },
    ...(includesDeleted ? [] : [{ sql: 'm.deleted_at IS NULL', bound: [] }]),
  ];
}

function properties({ priorityMin, priorityMax, from, to }: MessageFilter): Condition[] {
  const bounds: [string, number | null][] = [
    ['m.priority >= ?', priorityMin],
    ['m.priority <= ?', priorityMax],
    ['m.timestamp >= ?', from],
    ['m.timestamp <= ?', to],
  ];
  return bounds.flatMap(([sql, value]) => (value === null ? [] : [{ sql, bound: [value] }]));
}

function content(filter: MessageFilter): Condition[] {
  const parts = [...tags(filter.tags), ...text(filter.text)];
  if (parts.length === 0 || !filter.includesDeleted) return parts;
  return [{ sql: '(m.deleted_at IS NULL OR m.deleted_at > ?)', bound: [filter.now - deletedContentMs] }, ...parts];
}

/**
 * Tags are stored as JSON. What begins with a bracket or a comma and a quote is the start of a tag there: within a tag a
 * quote is escaped, and one that ends a tag is followed by neither this tag nor a quote, since it holds no comma.
 */
function tags(wanted: readonly string[]): Condition[] {
  if (wanted.length === 0) return [];
  const starts = wanted.flatMap((tag) => [`[${JSON.stringify(tag)}`, `,${JSON.stringify(tag)}`]);
  return [{ sql: `(m.tags IS NOT NULL AND (${starts.map(() => 'instr(m.tags, ?)').join(' OR ')}))`, bound: starts }];
}

/**
 * LIKE takes A to Z for a to z and nothing else, which is all there is to plain text; where it finds something in another
 * text, that is there as well. The rest is looked at by `holds_folded`, whose needle has to be set.
 */
function text(wanted: string | null): Condition[] {
  if (wanted === null) return [];
  const needle = foldCase(wanted);
  const other = '(NOT m.is_plain AND holds_folded(m.message, m.title))';
  if (!isPlain(needle)) return [{ sql: other, bound: [] }];
  // An ESCAPE is looked for in every text anew, which takes a sixth of a search (measured).
  const needsEscape = /[\\%_]/.test(needle);
  const pattern = `%${needle.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const like = (column: string) => `${column} LIKE ?${needsEscape ? " ESCAPE '\\'" : ''}`;
  return [{ sql: `(${like('m.message')} OR ${like('m.title')} OR ${other})`, bound: [pattern, pattern] }];
}
