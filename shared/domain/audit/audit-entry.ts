import { auditActions, type AuditAction, type AuditDetails, type AuditSubjectType } from './audit-actions.ts';
import { toIso } from '../to-iso.ts';

/** Actors without an account: the operator, Tocsin itself, or an anonymous caller. */
export const auditActorKinds = ['operator', 'system', 'anonymous'] as const;

/** How the actor authenticated, or the program through which it acted. */
export type AuditThrough =
  | 'password'
  | 'google'
  | 'apple' // a new login
  | 'login'
  | 'api_key' // an account's credential
  | 'mail_link'
  | 'push' // the link of a push
  | 'topic_token' // an anonymous actor
  | 'refresh_token'
  | 'admin_token'
  | 'cli' // the operator
  | 'server' // Tocsin itself
  | 'nothing';

/** The actor and its origin. */
export interface AuditSource {
  /** The acting account's ID, or one of `auditActorKinds`. */
  readonly actor: string;
  readonly through: AuditThrough;
  /** ID of the login session or API key, or of the new login. */
  readonly credentialId: string | null;
  /** The client address according to TRUST_PROXY; null if not over HTTP. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** An action to record. */
export interface AuditAct<A extends AuditAction> {
  readonly action: A;
  /**
   * The subject's name at that time; null for accounts, whose names are personal data, and for actions without a single
   * subject.
   */
  readonly subject: { readonly id: string; readonly name?: string } | null;
  /** ID of the containing resource: the topic of a token, the team of a member. */
  readonly within?: { readonly type: 'topic' | 'team' | 'account'; readonly id: string };
  readonly details: AuditDetails<A>;
  readonly formerEmail?: string;
}

/** An entry of the audit log. Except for `count` it never changes, and is removed after AUDIT_RETENTION_DAYS. */
export interface AuditEntry {
  readonly id: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly action: AuditAction;
  readonly actor: string;
  readonly through: AuditThrough;
  readonly credentialId: string | null;
  readonly subjectType: AuditSubjectType | null;
  readonly subjectId: string | null;
  readonly subjectName: string | null;
  readonly withinType: string | null;
  readonly withinId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** The number of identical actions that the entry stands for; null in entries of older versions, which mean one. */
  readonly count: number | null;
}

/**
 * The personal data of an entry: its origin and a former email address. It has the entry's ID, and is removed with
 * the account or with the entry.
 */
export interface AuditOrigin {
  readonly id: string;
  readonly version: number;
  readonly at: number;
  /** The acting account; for an anonymous actor, the subject. Null for the operator. */
  readonly userId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly formerEmail: string | null;
}

/** Clients and untrusted proxies control this text, so its length is limited. */
const charsMax = { address: 64, userAgent: 200 } as const;

/** Returns the entry of an action and its personal data, or null. */
export function auditEntryOf<A extends AuditAction>(
  source: AuditSource,
  act: AuditAct<A>,
  made: { id: string; at: number },
): { entry: Omit<AuditEntry, 'version'>; origin: Omit<AuditOrigin, 'version'> | null } {
  const { action, subject, within } = act;
  const row = auditActions[action];
  const entry = {
    ...made,
    action,
    actor: source.actor,
    through: source.through,
    credentialId: source.credentialId,
    subjectType: subject === null ? null : row.subject,
    subjectId: subject?.id ?? null,
    subjectName: subject?.name ?? null,
    withinType: within?.type ?? null,
    withinId: within?.id ?? null,
    details: Object.fromEntries(
      Object.entries(row.details).map(([name, kind]) => {
        const value: unknown = (act.details as Readonly<Record<string, unknown>>)[name];
        return [name, kind === 'time' && typeof value === 'number' ? toIso(value) : value];
      }),
    ),
    count: 1,
  };
  const { address, userAgent } = source;
  const formerEmail = act.formerEmail ?? null;
  if (address === null && userAgent === null && formerEmail === null) return { entry, origin: null };
  const origin = {
    ...made,
    userId: personOf(source, entry),
    formerEmail,
    address: address?.slice(0, charsMax.address) ?? null,
    userAgent: userAgent?.slice(0, charsMax.userAgent) ?? null,
  };
  return { entry, origin };
}

function personOf(
  { actor }: AuditSource,
  { subjectType, subjectId }: Pick<AuditEntry, 'subjectType' | 'subjectId'>,
): string | null {
  if (isAccountActor(actor)) return actor;
  return actor === 'anonymous' && subjectType === 'account' ? subjectId : null;
}

/** Whether the actor is an account, so that `actor` contains its ID. */
export const isAccountActor = (actor: string): boolean => !(auditActorKinds as readonly string[]).includes(actor);

/** An entry with its origin. The origin is null if it is unknown or the account was removed. */
export interface ReadAuditEntry {
  readonly entry: AuditEntry;
  readonly origin: AuditOrigin | null;
}

/** Returns the IDs of the accounts in an entry. */
export function accountsOf({ actor, subjectType, subjectId }: AuditEntry): string[] {
  return [
    ...(isAccountActor(actor) ? [actor] : []),
    ...(subjectType === 'account' && subjectId !== null ? [subjectId] : []),
  ];
}

/** A cursor in the log, which is listed newest first: the time and ID of the last entry returned. */
export type AuditCursor = Pick<AuditEntry, 'at' | 'id'>;

/** Formats a cursor as `<milliseconds>.<id>`. */
export const auditCursorPattern = /^\d{1,15}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const formatAuditCursor = ({ at, id }: AuditCursor): string => `${at}.${id}`;

/** Parses a cursor of this form. */
export function parseAuditCursor(text: string): AuditCursor {
  const [at, id] = text.split('.', 2) as [string, string];
  return { at: Number(at), id };
}
