import { toIso } from '../to-iso.ts';

/** Pushes of one message that were given up together. */
export interface DeadLetter {
  /** Of the job that gave up. */
  readonly id: string;
  readonly messageId: string;
  readonly topicId: string;
  /** Null once the topic is gone. */
  readonly topic: string | null;
  /** How many devices were to be pushed to then; null where it had not come to that. Some may have been reached since. */
  readonly devices: number | null;
  readonly reason: string;
  readonly failedAt: number;
}

/** A dead letter as the operator is shown it. */
export function toDeadLetterJson({ id, messageId, topicId, topic, devices, reason, failedAt }: DeadLetter) {
  return { id, message_id: messageId, topic_id: topicId, topic, devices, reason, failed_at: toIso(failedAt) };
}
