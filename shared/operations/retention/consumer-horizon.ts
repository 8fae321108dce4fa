import { protectsConsumers } from '../../collections/retention-runs.ts';
import type { LogConsumer } from '../../domain/log/log-consumer.ts';
import { protectedHorizon } from '../../domain/retention/protection.ts';
import type { Documents } from '../../ports/documents.ts';

interface HorizonDeps {
  readonly documents: Pick<Documents, 'get'>;
  readonly clock: () => number;
  /** RETENTION_PROTECT_CONSUMERS */
  readonly isSet: boolean;
}

/**
 * Resolves with a function that returns the time which decides what has expired for a consumer, or with null while
 * retention does not protect the unread records of consumers: then it is now.
 */
export async function consumerHorizon({
  documents,
  clock,
  isSet,
}: HorizonDeps): Promise<((consumer: LogConsumer) => number) | null> {
  if (!(await protectsConsumers(documents, { isSet, now: clock() }))) return null;
  return (consumer) => protectedHorizon(consumer, clock());
}
