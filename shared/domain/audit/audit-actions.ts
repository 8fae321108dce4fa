/** Types of audit subjects. */
export type AuditSubjectType =
  'account' | 'api_key' | 'topic_token' | 'topic' | 'sink' | 'message' | 'team' | 'team_invite' | 'team_subscription';

/** The type of a detail. A `time` is stored in milliseconds since the epoch and shown as RFC 3339. */
export type AuditDetailKind = 'text' | 'list' | 'integer' | 'flag' | 'time';

interface AuditActionRow {
  /** A sentence for readers of the log, identical to the one in docs/audit-log.md. */
  readonly means: string;
  /** Null for an action on the installation. */
  readonly subject: AuditSubjectType | null;
  /** Additional small values. Never a secret, an email address, or message content. */
  readonly details: { readonly [name: string]: AuditDetailKind };
}

/** All audited actions. A new action needs a row here, in docs/audit-log.md, and in the acceptance test. */
export const auditActions = {
  'login.succeeded': { means: 'A person logged in.', subject: 'account', details: { method: 'text' } },
  'login.failed': {
    means:
      'A login failed. For an address without an account (`unknown_person`), the subject is an ID that does not exist.',
    subject: 'account',
    details: { method: 'text', reason: 'text', further_unrecorded: 'flag' },
  },
  'login.revoked': {
    means: 'A refresh token was reused, which ended its login.',
    subject: 'account',
    details: { session_id: 'text' },
  },
  'login.ended': {
    means: 'A login was ended by its owner.',
    subject: 'account',
    details: { session_id: 'text' },
  },
  'password.check_failed': {
    means: 'A password change or account deletion had a wrong current password.',
    subject: 'account',
    details: { further_unrecorded: 'flag' },
  },
  'password.changed': { means: 'The password was changed; all other logins ended.', subject: 'account', details: {} },
  'password.reset': {
    means: 'The password was reset by an emailed link; all logins ended.',
    subject: 'account',
    details: {},
  },
  'password.set': { means: 'The operator set the password; all logins ended.', subject: 'account', details: {} },
  'identity.linked': {
    means: 'An identity of an identity provider was linked to the account.',
    subject: 'account',
    details: { provider: 'text' },
  },
  'account.created': { means: 'An account was created.', subject: 'account', details: { method: 'text' } },
  'account.email_changed': {
    means: 'The email address changed; `former_email` is the previous one.',
    subject: 'account',
    details: {},
  },
  'account.email_change_undone': {
    means:
      'A former email address undid a change of the email address; all logins ended. `former_email` is the replaced one.',
    subject: 'account',
    details: {},
  },
  'account.username_changed': { means: 'The username changed.', subject: 'account', details: {} },
  'account.deleted': {
    means: 'The account was deleted by its owner or the operator, or because it was never verified.',
    subject: 'account',
    details: { reason: 'text' },
  },
  'account.tier_changed': {
    means: 'The tier, its expiry or its seats changed.',
    subject: 'account',
    details: { tier: 'text', former_tier: 'text', expires_at: 'time', additional_members: 'integer' },
  },
  'account.verified': {
    means: 'The email address was verified by the emailed link or by the operator.',
    subject: 'account',
    details: {},
  },
  'account.logins_ended': { means: 'The operator ended all logins.', subject: 'account', details: {} },
  'account.disabled': {
    means: 'The account was disabled; its credentials are invalid.',
    subject: 'account',
    details: {},
  },
  'account.enabled': { means: 'The account was enabled.', subject: 'account', details: {} },
  'api_key.created': {
    means: 'An API key was created.',
    subject: 'api_key',
    details: { scopes: 'list', expires_at: 'time' },
  },
  'api_key.revoked': { means: 'An API key was revoked.', subject: 'api_key', details: {} },
  'api_key.enabled': { means: 'A revoked API key was enabled.', subject: 'api_key', details: {} },
  'api_key.deleted': { means: 'An API key was deleted.', subject: 'api_key', details: {} },
  'topic_token.created': {
    means: 'A topic token was created.',
    subject: 'topic_token',
    details: { permissions: 'list', expires_at: 'time' },
  },
  'topic.access_changed': {
    means: 'A topic became public or private.',
    subject: 'topic',
    details: { access_level: 'text', former_access_level: 'text' },
  },
  'topic.retention_changed': {
    means: "The retention of a topic changed, in days; null means the retention of the owner's tier.",
    subject: 'topic',
    details: { retention_days: 'integer', former_retention_days: 'integer' },
  },
  'topic.archive_changed': {
    means: 'The archiving of expired messages of a topic was switched on or off.',
    subject: 'topic',
    details: { archive: 'flag' },
  },
  'topic.escalation_set': { means: 'The escalation policy of a topic was set.', subject: 'topic', details: {} },
  'topic.escalation_removed': { means: 'The escalation policy of a topic was removed.', subject: 'topic', details: {} },
  'topic.deleted': {
    means: "A topic was deleted, alone or with its team or its owner's account.",
    subject: 'topic',
    details: {},
  },
  'topic.held': { means: 'A topic was put under legal hold.', subject: 'topic', details: {} },
  'topic.released': { means: 'A legal hold on a topic ended.', subject: 'topic', details: {} },
  'topic.held_messages_read': {
    means: 'The operator read the messages that only a legal hold keeps.',
    subject: 'topic',
    details: {},
  },
  'topic.archive_restored': {
    means: 'The operator returned archived messages of a topic to its history, for a number of days.',
    subject: 'topic',
    details: { from: 'text', to: 'text', days: 'integer' },
  },
  'sink.created': { means: 'A sink of a topic was created.', subject: 'sink', details: { kind: 'text' } },
  'sink.changed': {
    means: 'A sink was changed, paused, activated or set to another offset.',
    subject: 'sink',
    details: { fields: 'list' },
  },
  'sink.deleted': { means: 'A sink was deleted.', subject: 'sink', details: {} },
  'topic_token.deleted': { means: 'A topic token was deleted.', subject: 'topic_token', details: {} },
  'message.edited': { means: 'A manager of the topic edited a message.', subject: 'message', details: {} },
  'message.acknowledged': { means: 'A message was acknowledged.', subject: 'message', details: {} },
  'message.acknowledgement_withdrawn': {
    means: 'An acknowledgement was withdrawn, so that the escalation started again.',
    subject: 'message',
    details: {},
  },
  'message.cancelled': { means: 'A scheduled message was cancelled.', subject: 'message', details: {} },
  'message.deleted': { means: 'A manager of the topic deleted a message.', subject: 'message', details: {} },
  'team.created': { means: 'A team was created; its creator owns it.', subject: 'team', details: {} },
  'team.invited': { means: 'An address was invited to a team.', subject: 'team_invite', details: { role: 'text' } },
  'team.invite_cancelled': { means: 'An invite was cancelled.', subject: 'team_invite', details: {} },
  'team.member_added': {
    means: 'An account accepted an invite and joined a team.',
    subject: 'account',
    details: { role: 'text', invite_id: 'text' },
  },
  'team.role_changed': {
    means: 'The role of a team member changed.',
    subject: 'account',
    details: { role: 'text', former_role: 'text' },
  },
  'team.member_removed': { means: 'A member left a team or was removed.', subject: 'account', details: {} },
  'team.subscription_created': {
    means: 'A team set a subscription for some or all of its members.',
    subject: 'team_subscription',
    details: { topic_id: 'text', for_all: 'flag', mandatory: 'flag' },
  },
  'team.subscription_ended': {
    means: 'A team ended a subscription that it had set.',
    subject: 'team_subscription',
    details: { topic_id: 'text' },
  },
  'team.lapsed': {
    means: 'The grace period of a team began, because its owner is below the TEAM tier.',
    subject: 'team',
    details: {},
  },
  'team.deactivated': {
    means: 'A team was deactivated after its grace period or by the operator.',
    subject: 'team',
    details: {},
  },
  'team.reactivated': { means: 'A team was reactivated.', subject: 'team', details: {} },
  'team.deleted': {
    means:
      'A team was deleted: on request, after its tier lapsed (`lapsed`), or with its owner (`account_deleted`). `topics` states whether its topics were deleted too.',
    subject: 'team',
    details: { topics: 'text', reason: 'text' },
  },
  'operator.refused': {
    means: 'A request to `/admin` had an invalid token.',
    subject: null,
    details: { further_unrecorded: 'flag' },
  },
  'retention.run_requested': {
    means: 'A run that removes expired messages was requested.',
    subject: null,
    details: { up_to: 'time', protect_consumers: 'flag' },
  },
  'retention.plan_confirmed': {
    means: 'A plan to remove expired messages was confirmed.',
    subject: null,
    details: { up_to: 'time', protect_consumers: 'flag' },
  },
  'retention.paused': { means: 'The removal of expired messages was paused.', subject: null, details: {} },
  'retention.resumed': { means: 'The removal of expired messages was resumed.', subject: null, details: {} },
  'push.redriven': {
    means: 'Dead letters were enqueued again: those of a topic, of a message, or all.',
    subject: 'topic',
    details: { message_id: 'text' },
  },
  'push.renotified': {
    means: 'One message, or the messages of a period, were pushed again to devices that missed them.',
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

/** The details of an action. */
export type AuditDetails<A extends AuditAction> = {
  readonly [
    D in keyof (typeof auditActions)[A]['details']
  ]: (typeof auditActions)[A]['details'][D] extends infer K extends AuditDetailKind ? DetailValues[K] : never;
};
