import type { AuditAction } from '../../domain/audit/audit-actions.ts';
import { accountsOf, type AuditEntry, type AuditCursor, type ReadAuditEntry } from '../../domain/audit/audit-entry.ts';
import { AppError } from '../../domain/errors.ts';
import type { Documents } from '../../ports/documents.ts';
import { auditEntries, auditOrigins } from '../../collections/audit-log.ts';
import { findUserByEmail, findUsers } from '../../collections/users.ts';

export interface AuditFilter {
  /** An account ID, or one of `auditActorKinds`. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** ID of the subject, or of the resource that contains it. */
  readonly subject?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Continues after this cursor. */
  readonly after?: AuditCursor | undefined;
}

export interface AuditPage {
  readonly entries: readonly ReadAuditEntry[];
  /** The cursor of the next page; null at the end of the log. A page with `next` can be short or empty. */
  readonly next: AuditCursor | null;
}

/** Entries scanned per page, so that rarely matching filters over a long log do not block the store. */
const scannedMax = 10_000;
const entriesPerRead = 200;

/**
 * Returns the newest `limit` entries (at most 1,000) that match all filters. Filters without an index are applied by
 * scanning.
 */
export async function findAuditEntries(documents: Documents, filter: AuditFilter, limit: number): Promise<AuditPage> {
  const found: AuditEntry[] = [];
  let scanned = 0;
  let last: AuditCursor | null = null;
  for await (const entry of paginate(documents, filter)) {
    if (matches(entry, filter)) found.push(entry);
    scanned += 1;
    last = { at: entry.at, id: entry.id };
    if (found.length >= limit || scanned >= scannedMax)
      return { entries: await withOrigins(documents, found), next: last };
  }
  return { entries: await withOrigins(documents, found), next: null };
}

/** Returns all matching entries, newest first, in pages of at most `pageSize`. */
export async function* paginateAuditEntries(
  documents: Documents,
  filter: AuditFilter,
  pageSize: number,
): AsyncGenerator<readonly ReadAuditEntry[], void> {
  let { after } = filter;
  do {
    const page = await findAuditEntries(documents, { ...filter, after }, pageSize);
    yield page.entries;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/** Resolves an actor: a text with `@` is an account's email address. Throws `not_found` `User not found`. */
export async function findAuditActor(documents: Documents, actor: string): Promise<string> {
  if (!actor.includes('@')) return actor.toLowerCase();
  const user = await findUserByEmail(documents, actor);
  if (user === null) throw new AppError('not_found', 'User not found');
  return user.id;
}

/** Returns the usernames, by ID, of the existing accounts in the entries. */
export async function findAuditNames(
  documents: Documents,
  entries: readonly ReadAuditEntry[],
): Promise<Map<string, string>> {
  const named = await findUsers(documents, [...new Set(entries.flatMap(({ entry }) => accountsOf(entry)))]);
  return new Map(named.map(({ id, username }) => [id, username]));
}

async function withOrigins(documents: Documents, entries: readonly AuditEntry[]): Promise<ReadAuditEntry[]> {
  const origins = new Map(
    (
      await documents.getMany(
        auditOrigins,
        entries.map(({ id }) => id),
      )
    ).map((origin) => [origin.id, origin]),
  );
  return entries.map((entry) => ({ entry, origin: origins.get(entry.id) ?? null }));
}

function matches(entry: AuditEntry, { actor, action }: AuditFilter): boolean {
  return (actor === undefined || entry.actor === actor) && (action === undefined || entry.action === action);
}

/** Returns the entries of the most selective index, newest first. */
function paginate(documents: Documents, filter: AuditFilter): AsyncIterable<AuditEntry> {
  const { actor, action, subject } = filter;
  if (subject !== undefined) {
    return merged(
      paginateEntries(documents, { index: 'bySubject', equals: { subjectId: subject } }, filter),
      paginateEntries(documents, { index: 'byWithin', equals: { withinId: subject } }, filter),
    );
  }
  if (actor !== undefined) return paginateEntries(documents, { index: 'byActor', equals: { actor } }, filter);
  if (action !== undefined) return paginateEntries(documents, { index: 'byAction', equals: { action } }, filter);
  return paginateEntries(documents, { index: 'byTime', equals: {} }, filter);
}

async function* paginateEntries(
  documents: Documents,
  by: { index: string; equals: Partial<AuditEntry> },
  { since, until, after }: AuditFilter,
): AsyncGenerator<AuditEntry, void> {
  let last = after;
  let to = after === undefined ? until : Math.min(after.at, until ?? after.at);
  for (let offset = 0; ;) {
    const page = await documents.find(auditEntries, {
      ...by,
      ...(since === undefined ? {} : { from: since }),
      ...(to === undefined ? {} : { to }),
      descending: true,
      limit: entriesPerRead,
      offset,
    });
    // Reads entries of the last entry's millisecond again, because some may follow the cursor.
    for (const entry of page) {
      if (last !== undefined && !isAfter(entry, last)) continue;
      last = entry;
      yield entry;
    }
    const end = page.at(-1);
    if (end === undefined || page.length < entriesPerRead) return;
    offset = end.at === to ? offset + page.length : 0;
    to = end.at;
  }
}

/** Whether the entry is after the other one in the log's order, newest first. */
const isAfter = (entry: AuditCursor, other: AuditCursor): boolean =>
  entry.at < other.at || (entry.at === other.at && entry.id < other.id);

/** Merges both lists, newest first. */
async function* merged(
  one: AsyncGenerator<AuditEntry, void>,
  two: AsyncGenerator<AuditEntry, void>,
): AsyncGenerator<AuditEntry, void> {
  let [first, second] = [await one.next(), await two.next()];
  while (first.done !== true || second.done !== true) {
    const isFirst = second.done === true || (first.done !== true && isAfter(second.value, first.value));
    if (isFirst) {
      yield first.value!;
      first = await one.next();
    } else {
      yield second.value!;
      second = await two.next();
    }
  }
}
