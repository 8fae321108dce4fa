import { Counter, Registry } from 'prom-client';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import type { SinkDeps } from './sink-deps.ts';

/** The dependencies of a notifier whose claims do not expire during a test. Its turns take up to `turnMs`. */
export function sinkDeps({
  engine,
  client,
  closing = new AbortController().signal,
  turnMs = 600_000,
}: Pick<SinkDeps, 'engine' | 'client'> &
  Partial<Pick<SinkDeps, 'closing'>> & { turnMs?: number | undefined }): SinkDeps {
  return {
    engine,
    client,
    closing,
    history: new History(engine.messages, systemClock),
    clock: systemClock,
    log: openLogger('test', 'silent'),
    makeId: newId,
    random: () => 0.5,
    baseUrl: 'http://127.0.0.1',
    requests: new Counter({
      name: 'requests',
      help: '-',
      labelNames: ['kind', 'outcome'],
      registers: [new Registry()],
    }),
    limits: { turnMs, claimMs: 600_000, saveMs: 1_000 },
  };
}
