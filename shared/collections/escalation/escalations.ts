import type { EscalationState, PageEntry } from '../../domain/escalation/escalation-state.ts';

import type { Acknowledgement } from '../../domain/messages/message-extras.ts';
import type { Collection, Document, Documents } from '../../ports/documents.ts';

/**
 * The acknowledgement and the escalation of a message; has the message's ID. It is the truth: the log repeats the
 * acknowledgement for readers. Its version decides between an acknowledgement and a page. Times are milliseconds since
 * the epoch.
 */
export interface Escalation extends Document {
  readonly topicId: string;
  /** Whether the topic's policy requires an acknowledgement. Otherwise nothing is ever due. */
  readonly isRequired: boolean;
  /** Whether it waits for an acknowledgement; repeats `state.isOpen` for the index. */
  readonly isOpen: boolean;
  /** The time of the publish. */
  readonly openedAt: number;
  /** The expiry of the message at the publish. */
  readonly expiresAt: number;
  /** When a notifier looks at it next; null if nothing is due. */
  readonly dueAt: number | null;
  /** The clock at the last decision; null if nothing is due. */
  readonly decidedAt: number | null;
  readonly state: EscalationState;
  readonly acknowledgement: Acknowledgement | null;
  /** The account that acknowledged, so that its erasure finds the name; otherwise null. */
  readonly ackUserId: string | null;
  /** The device whose push acknowledged the message; otherwise null. */
  readonly ackDeviceId: string | null;
  /** When the acknowledgement or its withdrawal was stored that the log does not have yet. */
  readonly unrecordedAt: number | null;
  /** The pages so far, oldest first. */
  readonly pages: readonly PageEntry[];
  /** Signs the links of pushes that acknowledge the message. */
  readonly ackKey: string;
  /** The ID of the next message to another topic, so that a repeated step publishes no second one. */
  readonly plannedId: string | null;
}

export const escalations: Collection<Escalation> = {
  name: 'escalations',
  fields: {
    topicId: 'text',
    isRequired: 'boolean',
    isOpen: 'boolean',
    openedAt: 'time',
    expiresAt: 'time',
    dueAt: 'time',
    decidedAt: 'time',
    state: 'json',
    acknowledgement: 'json',
    ackUserId: 'text',
    ackDeviceId: 'text',
    unrecordedAt: 'time',
    pages: 'json',
    ackKey: 'text',
    plannedId: 'text',
  },
  uniqueKeys: {},
  indexes: {
    byDue: ['dueAt'],
    byDecision: ['decidedAt'],
    byTopic: ['topicId', 'isOpen', 'openedAt'],
    byExpiry: ['expiresAt'],
    byAckUser: ['ackUserId'],
  },
};

/** An account that the escalation policy of a topic names, so that an erasure finds the policy. */
export interface EscalationAccount extends Document {
  readonly topicId: string;
  readonly userId: string;
}

export const escalationAccounts: Collection<EscalationAccount> = {
  name: 'escalationAccounts',
  fields: { topicId: 'text', userId: 'text' },
  uniqueKeys: { account: ['topicId', 'userId'] },
  indexes: { byUser: ['userId'] },
};

/** A changed policy whose open escalations still have their former times. A notifier updates them and removes it. */
export interface EscalationChange extends Document {
  readonly topicId: string;
  readonly changedAt: number;
}

export const escalationChanges: Collection<EscalationChange> = {
  name: 'escalationChanges',
  fields: { topicId: 'text', changedAt: 'time' },
  uniqueKeys: {},
  indexes: { byTime: ['changedAt'], byTopic: ['topicId'] },
};

/** More accounts than a policy can name. */
const accountsMax = 1_000;

export function findEscalationAccounts(documents: Documents, topicId: string): Promise<EscalationAccount[]> {
  return documents.find(escalationAccounts, { index: 'account', equals: { topicId }, limit: accountsMax });
}

/** Returns at most `limit` messages of the topic that wait for an acknowledgement, oldest first. */
export function findOpenEscalations(documents: Documents, topicId: string, limit: number): Promise<Escalation[]> {
  return documents.find(escalations, { index: 'byTopic', equals: { topicId, isOpen: true }, limit });
}
