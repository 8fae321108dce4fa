import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { Counter } from 'prom-client';
import type { SinkClient } from './sink-client.ts';

/** The dependencies of sinks. */
export interface SinkDeps {
  readonly engine: Pick<Engine, 'documents' | 'messages' | 'jobQueue' | 'storage'>;
  readonly history: History;
  readonly client: Pick<SinkClient, 'post'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: MakeId;
  readonly random: () => number;
  /** Public URL of the API, the source of events. */
  readonly baseUrl: string;
  /** Requests by kind of the sink and outcome. */
  readonly requests: Counter<'kind' | 'outcome'>;
  readonly limits: SinkTimes;
  /** Aborted when the notifier closes. */
  readonly closing: AbortSignal;
}

/** Times in milliseconds. */
export interface SinkTimes {
  /** How long a sink is worked on while others wait. */
  readonly turnMs: number;
  /** How long a claim is valid; longer than a request and a write of the progress, at any skew of two clocks. */
  readonly claimMs: number;
  /** The progress of a sink is stored at least so often, unless a request takes longer. */
  readonly saveMs: number;
}
