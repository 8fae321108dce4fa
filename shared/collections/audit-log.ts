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

/** The writes that record an act. They belong into the commit of the act, so that neither is there without the other. */
export type Audit = <A extends AuditAction>(act: AuditAct<A>) => Write[];

/** Records the acts of one source. */
export function auditBy(
  deps: { readonly makeId: () => string; readonly clock: () => number },
  source: AuditSource,
): Audit {
  return (act) => {
    const { entry, origin } = auditEntryOf(source, act, { id: deps.makeId(), at: deps.clock() });
    return [write.insert(auditEntries, entry), ...(origin === null ? [] : [write.insert(auditOrigins, origin)])];
  };
}

/** What Tocsin does by itself: sweeps, and what follows from an act of somebody. */
export const bySystem: AuditSource = {
  actor: 'system',
  through: 'server',
  credentialId: null,
  address: null,
  userAgent: null,
};

/** Origins removed at once. Harm prevented: a commit that holds everyone else up. */
const originsAtOnce = 500;

/** Takes from the log what is the person's of a deleted account, one batch of it; ids stay. Resolves with how many entries lost their origin: 0 when none is left. */
export function eraseAuditOrigins(documents: Documents, userId: string): Promise<number> {
  return removeFound(documents, auditOrigins, { index: 'byUser', equals: { userId }, limit: originsAtOnce });
}

/** The writes that do so for an account that nobody has used, and whether they are as many as a commit should have: then there may be more. */
export async function auditOriginRemovals(
  documents: Documents,
  userId: string,
): Promise<{ writes: Write[]; hasMore: boolean }> {
  const found = await documents.find(auditOrigins, { index: 'byUser', equals: { userId }, limit: originsAtOnce });
  return { writes: found.map(({ id }) => write.remove(auditOrigins, id)), hasMore: found.length === originsAtOnce };
}
