import { auditActions, type AuditAction, type AuditDetails, type AuditSubjectType } from './audit-actions.ts';
import { toIso } from '../to-iso.ts';

/** Who acts where no account does: the operator, Tocsin by itself, or somebody whom no credential names. */
export const auditActorKinds = ['operator', 'system', 'anonymous'] as const;

/** By what an actor proved to be who it is, or where it acts. */
export type AuditThrough =
  | 'password'
  | 'google'
  | 'apple' // a login that begins
  | 'login'
  | 'api_key' // a credential of an account
  | 'mail_link'
  | 'refresh_token'
  | 'admin_token'
  | 'cli' // the operator
  | 'server' // Tocsin by itself
  | 'nothing';

/** Who acts, and from where. */
export interface AuditSource {
  /** The acting account's id, or one of `auditActorKinds`. */
  readonly actor: string;
  readonly through: AuditThrough;
  /** The id of the login session or API key that was used, or of the login that begins. */
  readonly credentialId: string | null;
  /** As the server sees it by TRUST_PROXY; null: not over HTTP. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** What was done, to be recorded. */
export interface AuditAct<A extends AuditAction> {
  readonly action: A;
  /** Its name as it was then; an account has none here, since its names are its person's. Null where an act has no single subject. */
  readonly subject: { readonly id: string; readonly name?: string } | null;
  /** What the subject belongs to: the topic of a token, the team of a member. */
  readonly within?: { readonly type: 'topic' | 'team' | 'account'; readonly id: string };
  readonly details: AuditDetails<A>;
  readonly formerEmail?: string;
}

/** An act as the log has it. It never changes, and goes when it is AUDIT_RETENTION_DAYS old. */
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
}

/**
 * What of an entry is a person's: from where it came, and a former address of mail. It has the entry's id, and goes with
 * the account that it is about, or with the entry.
 */
export interface AuditOrigin {
  readonly id: string;
  readonly version: number;
  readonly at: number;
  /** The acting account; the subject where somebody acts whom no credential names. Null: the operator. */
  readonly userId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly formerEmail: string | null;
}

/** Longer ones say nothing more, and are written by whoever asks, or by an untrusted proxy. Harm prevented: the log filling with them. */
const charsMax = { address: 64, userAgent: 200 } as const;

/** The entry of an act, and what of it is a person's, null where there is nothing. */
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

/** Whether the actor of an entry is an account, so that `actor` is its ID. */
export const isAccountActor = (actor: string): boolean => !(auditActorKinds as readonly string[]).includes(actor);

/** An entry with its origin: null where there was none, and once the account is gone. */
export interface ReadAuditEntry {
  readonly entry: AuditEntry;
  readonly origin: AuditOrigin | null;
}

/** The ids of the accounts that an entry names. */
export function accountsOf({ actor, subjectType, subjectId }: AuditEntry): string[] {
  return [
    ...(isAccountActor(actor) ? [actor] : []),
    ...(subjectType === 'account' && subjectId !== null ? [subjectId] : []),
  ];
}

/** A place in the log, newest first: behind the entry with this time and id. */
export type AuditPlace = Pick<AuditEntry, 'at' | 'id'>;

/** How a place is sent: `<milliseconds>.<id>`. */
export const auditPlaceForm = /^\d{1,15}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const toAuditPlaceText = ({ at, id }: AuditPlace): string => `${at}.${id}`;

/** The place of a text that has the form. */
export function parseAuditPlace(text: string): AuditPlace {
  const [at, id] = text.split('.', 2) as [string, string];
  return { at: Number(at), id };
}
