import { escalations, type Escalation } from '../../collections/escalation/escalations.ts';
import { UniqueKeyViolation, type Documents, type New } from '../../ports/documents.ts';

/** Stores the escalation of a message unless it has one: the API, a notifier or an acknowledgement can be first. */
export async function openEscalation(documents: Pick<Documents, 'insert'>, made: New<Escalation>): Promise<void> {
  try {
    await documents.insert(escalations, made);
  } catch (error) {
    if (!(error instanceof UniqueKeyViolation)) throw error;
  }
}
