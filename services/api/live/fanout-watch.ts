import { beatsChannel, type Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';
import type { ChannelSubscription, PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import { subscribeLater } from '@tocsin/shared/async/subscribe-later.ts';

/** After three missing beats, a fan-out counts as silent. */
const silentMs = 1_500;

interface Heard {
  readonly beat: Beat;
  readonly at: number;
}

/** Listens to the beats of the fan-out, which tell whether this node receives every record of a partition. */
export class FanOutWatch {
  readonly #bus: Pick<PubSub, 'subscribe' | 'isConnected'>;
  readonly #onMissed: (partition: number) => void;
  readonly #heard = new Map<number, Heard>();
  #subscribed: Promise<ChannelSubscription> | undefined;

  /**
   * `onMissed` is called when records of a partition possibly did not reach this node: its fan-out changed or could not
   * publish, or it published while this node heard no beats.
   */
  constructor(bus: Pick<PubSub, 'subscribe' | 'isConnected'>, onMissed: (partition: number) => void) {
    this.#bus = bus;
    this.#onMissed = onMissed;
  }

  /** Resolves once it listens, or will after a reconnect. */
  async start(): Promise<void> {
    this.#subscribed ??= subscribeLater(this.#bus, beatsChannel, (payload) => this.#receive(payload));
    try {
      await this.#subscribed;
    } catch (error) {
      this.#subscribed = undefined;
      throw error;
    }
  }

  /** The beats before a loss of the connection do not count. */
  forget(): void {
    for (const [partition, { beat }] of this.#heard) this.#heard.set(partition, { beat, at: -Infinity });
  }

  /**
   * Whether the partition's records reach this node: its fan-out sent a beat within 1.5 s, since the last reconnect.
   */
  hears(partition: number): boolean {
    const heard = this.#heard.get(partition);
    return this.#bus.isConnected && heard !== undefined && performance.now() - heard.at < silentMs;
  }

  async close(): Promise<void> {
    const subscribed = await this.#subscribed?.catch(() => undefined);
    await subscribed?.close().catch(() => undefined); // an unavailable server has dropped the subscription anyway
  }

  #receive(payload: string): void {
    const at = performance.now();
    for (const beat of JSON.parse(payload) as Beat[]) {
      const { partition } = beat;
      const before = this.#heard.get(partition)?.beat;
      const hasMissed =
        before?.assignment !== beat.assignment ||
        before.missed !== beat.missed ||
        (before.offset !== beat.offset && !this.hears(partition));
      this.#heard.set(partition, { beat, at });
      if (hasMissed) this.#onMissed(partition);
    }
  }
}
