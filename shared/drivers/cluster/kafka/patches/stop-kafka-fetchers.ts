import { patchOnce } from '../../../../platform/patch-library.ts';
import { kafkajsPrototype } from './kafkajs-internals.ts';

/** The part of kafkajs' Runner that the patch uses. */
interface Runner {
  readonly running: boolean;
  readonly fetchManager: { getFetchers(): readonly { stop(): Promise<void> }[] };
  fetch(nodeId: number): Promise<unknown[]>;
}

/**
 * Ends the fetchers of a stopped consumer of kafkajs 2.2.4. If the set of brokers changes while a consumer stops, it
 * creates fetchers that nothing stops: they repeat a fetch that returns immediately, which blocks the event loop.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function stopKafkaFetchers(): boolean {
  const runner = kafkajsPrototype<Runner>('consumer/runner', ['fetch']);
  if (runner === undefined) return false;
  patchOnce(runner, () => {
    const fetch = runner.fetch;
    runner.fetch = function (this: Runner, nodeId: number): Promise<unknown[]> {
      if (!this.running) for (const fetcher of this.fetchManager.getFetchers()) void fetcher.stop();
      return fetch.call(this, nodeId);
    };
  });
  return true;
}
