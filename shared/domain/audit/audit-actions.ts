/** What an act is done to. */
export type AuditSubjectType = 'account' | 'api_key' | 'topic_token' | 'topic' | 'message' | 'team' | 'team_invite';

/** Of what form a detail is. A `time` is given in milliseconds since the epoch and shown as RFC 3339. */
export type AuditDetailKind = 'text' | 'list' | 'integer' | 'flag' | 'time';

interface AuditActionRow {
  /** A sentence for whoever reads the log; the table of docs/operations.md has the same. */
  readonly means: string;
  /** Null: it is done to the installation. */
  readonly subject: AuditSubjectType | null;
  /** Small values that say more. Never a secret, an address of mail, or anything that somebody wrote in a message. */
  readonly details: { readonly [name: string]: AuditDetailKind };
}

/** Every act that the audit log knows. A new one is a row here, a row in docs/operations.md, and one in the acceptance test. */
export const auditActions = {
  'login.succeeded': { means: 'A person logged in.', subject: 'account', details: { method: 'text' } },
  'login.failed': {
    means:
      'A login was refused after it was judged. Of an address without an account (`unknown_person`) the subject is an id that nobody has.',
    subject: 'account',
    details: { method: 'text', reason: 'text', further_unrecorded: 'flag' },
  },
  'login.revoked': {
    means: 'A refresh token was used a second time, which ended its login.',
    subject: 'account',
    details: { session_id: 'text' },
  },
  'password.check_failed': {
    means: 'A wrong current password was given for a password change or the deletion of the account.',
    subject: 'account',
    details: { further_unrecorded: 'flag' },
  },
  'password.changed': { means: 'The password was changed; all other logins ended.', subject: 'account', details: {} },
  'password.reset': {
    means: 'The password was set by a mailed link; all logins ended.',
    subject: 'account',
    details: {},
  },
  'password.set': { means: 'The operator set the password; all logins ended.', subject: 'account', details: {} },
  'identity.linked': {
    means: 'A person at an identity provider was tied to the account.',
    subject: 'account',
    details: { provider: 'text' },
  },
  'account.created': { means: 'An account was made.', subject: 'account', details: { method: 'text' } },
  'account.email_changed': {
    means: 'The account has another mail address; `former_email` is the one that it had.',
    subject: 'account',
    details: {},
  },
  'account.username_changed': { means: 'The account has another username.', subject: 'account', details: {} },
  'account.deleted': {
    means: 'The account was deleted: by its person or the operator, or because it was never verified.',
    subject: 'account',
    details: { reason: 'text' },
  },
  'account.tier_changed': {
    means: 'The tier was set, or its end or seats.',
    subject: 'account',
    details: { tier: 'text', former_tier: 'text', expires_at: 'time', additional_members: 'integer' },
  },
  'account.verified': {
    means: 'The mail address was verified: its person opened the mailed link, or the operator vouched for it.',
    subject: 'account',
    details: {},
  },
  'account.logins_ended': { means: 'The operator ended all logins.', subject: 'account', details: {} },
  'account.disabled': {
    means: 'The account was disabled: none of its credentials is valid.',
    subject: 'account',
    details: {},
  },
  'account.enabled': { means: 'The account was enabled again.', subject: 'account', details: {} },
  'api_key.created': {
    means: 'An API key was made.',
    subject: 'api_key',
    details: { scopes: 'list', expires_at: 'time' },
  },
  'api_key.revoked': { means: 'An API key was revoked.', subject: 'api_key', details: {} },
  'api_key.enabled': { means: 'A revoked API key was enabled again.', subject: 'api_key', details: {} },
  'api_key.deleted': { means: 'An API key was deleted.', subject: 'api_key', details: {} },
  'topic_token.created': {
    means: 'A topic token was made.',
    subject: 'topic_token',
    details: { permissions: 'list', expires_at: 'time' },
  },
  'topic.access_changed': {
    means: 'A topic was made public or private.',
    subject: 'topic',
    details: { access_level: 'text', former_access_level: 'text' },
  },
  'topic.retention_changed': {
    means: 'A topic keeps its messages for another time, in days; null is as long as the tier of its owner grants.',
    subject: 'topic',
    details: { retention_days: 'integer', former_retention_days: 'integer' },
  },
  'topic.deleted': {
    means: "A topic was deleted, by itself or with its team or its owner's account.",
    subject: 'topic',
    details: {},
  },
  'topic.held': { means: 'A topic was put under legal hold.', subject: 'topic', details: {} },
  'topic.released': { means: 'A legal hold on a topic ended.', subject: 'topic', details: {} },
  'topic_token.deleted': { means: 'A topic token was deleted.', subject: 'topic_token', details: {} },
  'message.deleted': { means: 'A message was deleted, by whoever manages its topic.', subject: 'message', details: {} },
  'team.created': { means: 'A team was made; it belongs to who made it.', subject: 'team', details: {} },
  'team.invited': { means: 'An address was invited to a team.', subject: 'team_invite', details: { role: 'text' } },
  'team.invite_cancelled': { means: 'An invite was cancelled.', subject: 'team_invite', details: {} },
  'team.member_added': {
    means: 'An account joined a team, by an invite.',
    subject: 'account',
    details: { role: 'text', invite_id: 'text' },
  },
  'team.role_changed': {
    means: 'A member of a team has another role.',
    subject: 'account',
    details: { role: 'text', former_role: 'text' },
  },
  'team.member_removed': { means: 'A member left a team or was removed.', subject: 'account', details: {} },
  'team.lapsed': {
    means: 'The grace of a team began: its owner is below the TEAM tier.',
    subject: 'team',
    details: {},
  },
  'team.deactivated': {
    means: 'A team was deactivated: its grace is over, or the operator did it.',
    subject: 'team',
    details: {},
  },
  'team.reactivated': { means: 'A team was reactivated.', subject: 'team', details: {} },
  'team.deleted': {
    means:
      'A team was deleted, on request, after its tier was gone for too long (`lapsed`), or with its owner (`account_deleted`). `topics` says whether they went along.',
    subject: 'team',
    details: { topics: 'text', reason: 'text' },
  },
  'operator.refused': {
    means: "A request to `/admin` had a token that is not the operator's.",
    subject: null,
    details: { further_unrecorded: 'flag' },
  },
  'retention.run_requested': {
    means: 'The removal of expired messages was asked for.',
    subject: null,
    details: { up_to: 'time' },
  },
  'retention.plan_confirmed': {
    means: 'A plan of removing expired messages was confirmed.',
    subject: null,
    details: { up_to: 'time' },
  },
  'retention.paused': { means: 'The removal of expired messages was paused.', subject: null, details: {} },
  'retention.resumed': { means: 'The removal of expired messages was resumed.', subject: null, details: {} },
  'push.redriven': {
    means: 'Pushes that were given up were put back: those of a topic, of a message, or all.',
    subject: 'topic',
    details: { message_id: 'text' },
  },
  'push.renotified': {
    means: 'Messages of a time, or one message, were pushed again to those who missed them.',
    subject: 'topic',
    details: { message_id: 'text', from: 'time', to: 'time' },
  },
} as const satisfies { readonly [name: string]: AuditActionRow };

export type AuditAction = keyof typeof auditActions;

export const auditActionNames = Object.keys(auditActions) as readonly AuditAction[];

interface DetailValues {
  readonly text: string | null;
  readonly list: readonly string[];
  readonly integer: number | null;
  readonly flag: boolean;
  readonly time: number | null;
}

/** What an act of the action has to tell beyond who and what. */
export type AuditDetails<A extends AuditAction> = {
  readonly [
    D in keyof (typeof auditActions)[A]['details']
  ]: (typeof auditActions)[A]['details'][D] extends infer K extends AuditDetailKind ? DetailValues[K] : never;
};
