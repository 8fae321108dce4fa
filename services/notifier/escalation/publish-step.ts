import { lifetimeMsOf, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import { requiresAck } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import { noExtras } from '@tocsin/shared/domain/messages/message-extras.ts';
import { messageLimits, type Message, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { escalations, type Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { EscalationDeps } from './escalation-deps.ts';

/**
 * Publishes the message to another topic, with a text that names its origin. The planned ID is stored first, so that a
 * repeated step publishes the same message. Resolves with the stored escalation. Throws StaleVersion, before it
 * publishes, if the escalation changed meanwhile.
 */
export async function publishStep(
  deps: EscalationDeps,
  { escalation, message, topic: from }: { escalation: Escalation; message: StoredMessage; topic: Topic },
  topicId: string,
): Promise<Escalation> {
  const { documents, eventLog, messages } = deps.engine;
  const topic = await documents.get(topics, topicId);
  if (topic === null) return escalation;
  const id = escalation.plannedId ?? deps.makeId();
  // Also with a planned ID: this is the claim, which an acknowledgement makes impossible.
  const planned = await documents.update(escalations, escalation, { plannedId: id });
  if (escalation.plannedId === null || (await messages.find(id)) === null) {
    const made = await escalatedMessage(deps, { message, from, topic, id });
    await eventLog.append(topic.partition, { type: 'message', timestamp: made.timestamp, message: made }, topic.name);
  }
  // The next step of this decision has its own message.
  return documents.update(escalations, planned, { plannedId: null });
}

async function escalatedMessage(
  { clock, engine: { documents }, retentionDays }: EscalationDeps,
  { message, from, topic, id }: { message: StoredMessage; from: Topic; topic: Topic; id: string },
): Promise<Message> {
  const now = clock();
  const owner = await documents.get(users, topic.ownerId);
  const tier = owner === null ? 'FREE' : tierInForce(owner, now);
  const title = `${from.name}: ${message.title ?? 'no acknowledgement'}`;
  const text = `Not acknowledged in ${from.name}:\n\n${message.message}`;
  return {
    ...noExtras,
    id,
    topicId: topic.id,
    message: leading(text, messageLimits.textCodePoints),
    title: leading(title, messageLimits.titleCodePoints),
    priority: message.priority,
    tags: message.tags,
    timestamp: now,
    expiresAt: now + lifetimeMsOf(topic, retentionDays[tier]),
    markdown: message.markdown,
    isDeleted: false,
    isEdited: false,
    deletedAt: null,
    editedAt: null,
    click: message.click,
    iconUrl: message.iconUrl,
    actions: message.actions.filter(({ action }) => action !== 'ack'),
    requiresAck: requiresAck(topic.escalation, message.priority),
    publishedBy: { kind: 'system', name: 'escalation', accountId: null },
  };
}

/** Returns the text, or its first code points with an ellipsis. */
function leading(text: string, codePointsMax: number): string {
  const points = [...text];
  return points.length <= codePointsMax ? text : `${points.slice(0, codePointsMax - 1).join('')}…`;
}
