import type { Topic } from '../domain/topics/topic.ts';

/** A topic's legal hold, as the operator is shown it. */
export function toHoldJson({ name, id, isHeld }: Topic): { topic: string; topic_id: string; legal_hold: boolean } {
  return { topic: name, topic_id: id, legal_hold: isHeld };
}
