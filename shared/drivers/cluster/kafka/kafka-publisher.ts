import { unavailable } from '../../../domain/errors.ts';
import { coalescedInterval } from '../../../async/coalesced-timer.ts';
import { within } from '../../../async/within.ts';
import { KafkaBatcher, type OutgoingRecord } from './kafka-batcher.ts';
import type { KafkaContext } from './kafka-client.ts';
import { KafkaLeaders, type KafkaBroker } from './kafka-leaders.ts';
import { KafkaSender } from './kafka-sender.ts';
import { NotAppended } from './not-appended.ts';

/**
 * How long an append waits for a new leader. Longer than the 9 s after which a controller fences a dead broker
 * (`broker.session.timeout.ms`), so that its partitions have another leader by then.
 */
const electionMsMax = 15_000;
/** Limits the memory for appends that wait for a leader. */
const electingMax = 10_000;
/** A request that takes longer may hang on a dead broker: look whether its partitions have another leader. */
const slowMs = 1_000;
const slowCheckedMs = 250;
/** How long a close waits for appends in progress. */
const closeTimeoutMs = 6_000;

/** A broker's own producer and queue, so that a dead broker delays only the partitions that it leads. */
interface Lane {
  readonly broker: KafkaBroker;
  readonly sender: KafkaSender;
  readonly batcher: KafkaBatcher;
}

/** Appends records through one lane per leader, and sends a record again if it is certain that it was not appended. */
export class KafkaPublisher {
  readonly #context: KafkaContext;
  readonly #topic: string;
  readonly #leaders: KafkaLeaders;
  /** By the broker's node ID. */
  readonly #lanes = new Map<number, Lane>();
  /** Partitions whose last append found no leader, with the times of the first and the last failure. */
  readonly #failing = new Map<number, { readonly since: number; readonly at: number }>();
  readonly #stopSlowChecks: () => void;
  #electing = 0;
  #isClosed = false;

  constructor(context: KafkaContext, topic: string) {
    this.#context = context;
    this.#topic = topic;
    this.#leaders = new KafkaLeaders(context, topic);
    this.#stopSlowChecks = coalescedInterval(slowCheckedMs, () => void this.#checkSlowLanes(), { isBackground: true });
  }

  /**
   * Loads the leaders and connects to them. Throws if no broker responds within the time, or no leader accepts
   * connections.
   */
  async open(timeoutMs: number): Promise<void> {
    await this.#leaders.load(timeoutMs);
    const opened = await Promise.allSettled(this.#leaders.brokers.map((broker) => this.#laneTo(broker).sender.open()));
    const failed = opened.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !opened.some(({ status }) => status === 'fulfilled')) throw failed.reason;
  }

  /**
   * Resolves with the record's broker offset. Rejects with AppError `unavailable`; the outcome may then be unknown.
   * While a partition has no leader, its appends wait for up to 15 s, and after that fail immediately until it has one.
   */
  async append(record: OutgoingRecord): Promise<number> {
    const { partition } = record;
    for (;;) {
      if (this.#leaders.isGone) throw unavailable('Log', new Error('no broker responds'));
      const leader = this.#leaders.of(partition);
      try {
        if (leader === undefined) throw new NotAppended(`partition ${partition} has no leader`);
        const offset = await this.#laneTo(leader).batcher.append(record);
        if (this.#failing.size > 0) this.#failing.delete(partition);
        return offset;
      } catch (error) {
        if (!(error instanceof NotAppended)) throw error;
        await this.#nextLeader(partition, leader, error);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopSlowChecks();
    await Promise.all([...this.#lanes.values()].map(drop));
    await this.#leaders.close();
  }

  #laneTo(broker: KafkaBroker): Lane {
    const known = this.#lanes.get(broker.nodeId);
    if (known?.broker.address === broker.address) return known;
    if (known !== undefined) void drop(known);
    const sender = new KafkaSender(this.#context, this.#topic, broker);
    const lane = { broker, sender, batcher: new KafkaBatcher((records) => sender.send(records)) };
    this.#lanes.set(broker.nodeId, lane);
    return lane;
  }

  /**
   * Waits until the leaders were loaded again, unless the partition has another leader by now. Throws if it has been
   * without a working leader for too long, or all brokers are gone.
   */
  async #nextLeader(partition: number, tried: KafkaBroker | undefined, cause: Error): Promise<void> {
    const now = performance.now();
    const before = this.#failing.get(partition);
    const since = before === undefined || now - before.at > electionMsMax ? now : before.since;
    this.#failing.set(partition, { since, at: now });
    const leader = this.#leaders.of(partition);
    const isOther = leader !== undefined && leader.nodeId !== tried?.nodeId;
    const refreshed = isOther ? undefined : this.#leaders.refresh();
    if (now - since > electionMsMax || this.#electing >= electingMax || this.#isClosed) throw unavailable('Log', cause);
    this.#electing += 1;
    await refreshed;
    this.#electing -= 1;
    if (this.#leaders.isGone) throw unavailable('Log', cause);
  }

  /**
   * Moves queued records to new leaders, and gives up requests to brokers that lead nothing any more. Gives up all if
   * all brokers are gone.
   */
  async #checkSlowLanes(): Promise<void> {
    const now = performance.now();
    const slow = [...this.#lanes.values()].filter(({ batcher }) => now - (batcher.sentAt ?? now) > slowMs);
    if (slow.length === 0) return;
    await this.#leaders.refresh();
    for (const { broker, batcher, sender } of slow) {
      const isMoved = (partition: number) =>
        this.#leaders.isGone || this.#leaders.of(partition)?.nodeId !== broker.nodeId;
      batcher.evict(isMoved);
      if (sender.isSendingOnly(isMoved)) sender.abandon();
    }
  }
}

async function drop({ batcher, sender }: Lane): Promise<void> {
  await within(closeTimeoutMs, 'the last append', batcher.drained()).catch(() => undefined);
  await sender.close();
}
