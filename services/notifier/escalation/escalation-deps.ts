import type { RetentionDays } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { PushDeps } from '../sending/push-deps.ts';

/** The dependencies of escalations. */
export interface EscalationDeps extends Pick<PushDeps, 'clock' | 'log' | 'makeId' | 'closing'> {
  readonly engine: Pick<Engine, 'documents' | 'messages' | 'eventLog' | 'jobQueue'>;
  readonly retentionDays: RetentionDays;
}
