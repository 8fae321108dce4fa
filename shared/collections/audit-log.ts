import type { AuditAction } from '../domain/audit/audit-actions.ts';
import {
  auditEntryOf,
  type AuditAct,
  type AuditEntry,
  type AuditOrigin,
  type AuditSource,
} from '../domain/audit/audit-entry.ts';
import { write, type Collection, type Documents, type Write } from '../ports/documents.ts';
import { removeFound } from '../documents/remove-found.ts';

export const auditEntries: Collection<AuditEntry> = {
  name: 'auditEntries',
  fields: {
    at: 'time',
    action: 'text',
    actor: 'text',
    through: 'text',
    credentialId: 'text',
    subjectType: 'text',
    subjectId: 'text',
    subjectName: 'text',
    withinType: 'text',
    withinId: 'text',
    details: 'json',
    count: 'integer',
  },
  isAppendOnly: true,
  uniqueKeys: {},
  indexes: {
    byTime: ['at'],
    byActor: ['actor', 'at'],
    byAction: ['action', 'at'],
    bySubject: ['subjectId', 'at'],
    byWithin: ['withinId', 'at'],
  },
};

export const auditOrigins: Collection<AuditOrigin> = {
  name: 'auditOrigins',
  fields: { at: 'time', userId: 'text', address: 'text', userAgent: 'text', formerEmail: 'text' },
  isAppendOnly: true,
  uniqueKeys: {},
  indexes: { byTime: ['at'], byUser: ['userId', 'at'] },
};

/**
 * Returns the writes that record an action. Add them to the commit of the action, so that both are stored or neither.
 */
export type Audit = <A extends AuditAction>(act: AuditAct<A>) => Write[];

/** Records the actions of one source. */
export function auditBy(
  deps: { readonly makeId: () => string; readonly clock: () => number },
  source: AuditSource,
): Audit {
  return (act) => {
    const { entry, origin } = auditEntryOf(source, act, { id: deps.makeId(), at: deps.clock() });
    return [write.insert(auditEntries, entry), ...(origin === null ? [] : [write.insert(auditOrigins, origin)])];
  };
}

/** Actions of Tocsin itself: sweeps and consequences of other actions. */
export const bySystem: AuditSource = {
  actor: 'system',
  through: 'server',
  credentialId: null,
  address: null,
  userAgent: null,
};

/** Origins per commit, so that a commit does not block others. */
const originsPerCommit = 500;

/**
 * Removes a batch of a deleted account's personal data from the log and keeps IDs. Resolves with the number of changed
 * entries, 0 when none is left.
 */
export function eraseAuditOrigins(documents: Documents, userId: string): Promise<number> {
  return removeFound(documents, auditOrigins, { index: 'byUser', equals: { userId }, limit: originsPerCommit });
}

/** Returns the writes that do the same for an unused account, and whether more may remain because the batch is full. */
export async function auditOriginRemovals(
  documents: Documents,
  userId: string,
): Promise<{ writes: Write[]; hasMore: boolean }> {
  const found = await documents.find(auditOrigins, { index: 'byUser', equals: { userId }, limit: originsPerCommit });
  return { writes: found.map(({ id }) => write.remove(auditOrigins, id)), hasMore: found.length === originsPerCommit };
}
