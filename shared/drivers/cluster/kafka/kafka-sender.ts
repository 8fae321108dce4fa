import { setTimeout as sleep } from 'node:timers/promises';
import type { PartitionerArgs, PartitionMetadata, Producer } from 'kafkajs';
import type { OutgoingRecord } from './kafka-batcher.ts';
import { isNotConnected } from './is-not-connected.ts';
import { kafkaClient, kafkaRetryPauses, type KafkaClient, type KafkaContext } from './kafka-client.ts';
import type { KafkaBroker } from './kafka-leaders.ts';
import { NotAppended } from './not-appended.ts';
import { untilDone } from '../../../async/until-done.ts';
import { within } from '../../../async/within.ts';

/** The broker does not lead the partition, by the producer's metadata. */
class NotLed extends NotAppended {}

/** The part of a response that the sender uses. */
interface ProducedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly baseOffset?: string;
}

interface SenderConnection {
  readonly client: KafkaClient;
  readonly producer: Producer;
}

/** The deadline of a send. */
const sendTimeoutMs = 16_000;
/**
 * The broker's timeout for its replicas: shorter than `sendTimeoutMs`, so that the broker's error arrives, and longer
 * than the 9 s after which a controller fences a dead replica. Until then the leader waits for the replica.
 */
const brokerTimeoutMs = 15_000;
/** Broker errors that exclude an append: unknown topic, no leader, not the leader, not enough replicas. */
const notAppendedCodes: ReadonlySet<number> = new Set([3, 5, 6, 19]);
/** How long appends wait for a new connection after a failure (such as a moved leader) before they are rejected. */
const graceMs = 400;
/** After two consecutive failures, appends are rejected immediately for this long before the next attempt. */
const cooldownMs = 1_000;
const connectTimeoutMs = 4_000;

/**
 * Sends batches through one producer and replaces the producer after every failure: the outcome of a failed send is
 * unknown, and a kafkajs producer could confuse later batches with it. While no producer is connected, sends fail soon,
 * and the sender reconnects in the background.
 *
 * The producer is not idempotent. It sends each batch once, so the broker sees no duplicates, and publishers'
 * duplicates are detected by message ID. With `idempotent`, kafkajs would also reuse the sequence number of a failed
 * send for the next batch, which the broker then acknowledges without storing it.
 */
export class KafkaSender {
  readonly #connection: KafkaContext;
  readonly #topic: string;
  readonly #nodeId: number;
  readonly #abort = new AbortController();
  #current: SenderConnection | undefined;
  /** Pending while a new connection is opened. */
  #recovery: PromiseWithResolvers<SenderConnection> | undefined;
  /** Rejects appends until the next connection; undefined while connected. */
  #rejectWaiting: (() => void) | undefined;
  #isRejecting = false;
  #consecutiveFailures = 0;
  #lastFailure: unknown;
  /** The records of the send in progress. */
  #sending: readonly OutgoingRecord[] = [];

  constructor(connection: KafkaContext, topic: string, broker: KafkaBroker) {
    // Its only broker, so that no other one can delay it.
    this.#connection = { ...connection, brokers: [broker.address] };
    this.#topic = topic;
    this.#nodeId = broker.nodeId;
  }

  /** Connects; throws on failure. */
  async open(): Promise<void> {
    this.#current = await this.#connect();
  }

  /** Sends each record once with `acks=all`, as `SendRecords` describes. One call at a time. */
  async send(records: readonly OutgoingRecord[]): Promise<Map<number, number | Error>> {
    this.#sending = records;
    const attempt = async () => this.#sendOn(this.#current ?? (await this.#waitForConnection()), records);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof NotLed)) throw error;
      // After an election, the producer has an old leader. A new connection loads the current one.
      return await attempt();
    } finally {
      this.#sending = [];
    }
  }

  async #sendOn(current: SenderConnection, records: readonly OutgoingRecord[]): Promise<Map<number, number | Error>> {
    try {
      const responses = await within(
        sendTimeoutMs,
        'the append',
        current.producer.sendBatch({
          acks: -1,
          timeout: brokerTimeoutMs,
          topicMessages: [{ topic: this.#topic, messages: records as OutgoingRecord[] }],
        }),
      );
      this.#consecutiveFailures = 0;
      const outcomes = new Map(responses.map((response) => [response.partition, outcomeOf(response)]));
      const failure = [...outcomes.values()].find((outcome) => typeof outcome !== 'number');
      // A producer reads the leaders again only when it connects.
      if (failure !== undefined) this.#replace(current, failure, { isKnown: failure instanceof NotAppended });
      return outcomes;
    } catch (error) {
      const reason = isNotConnected(error) ? new NotAppended('the leader is unreachable', { cause: error }) : error;
      this.#replace(current, error, { isKnown: reason instanceof NotAppended });
      throw reason;
    }
  }

  /** Whether a send is in progress, with records of such partitions only. */
  isSendingOnly(isSuch: (partition: number) => boolean): boolean {
    return this.#sending.length > 0 && this.#sending.every(({ partition }) => isSuch(partition));
  }

  /** Ends the send in progress; the outcome of its records is then unknown, unless they wait for a connection. */
  abandon(): void {
    this.#rejectWaiting?.();
    this.#current?.client.destroy();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) await drop(current);
  }

  /** Waits briefly for a pending connection. Opens the first one. */
  #waitForConnection(): Promise<SenderConnection> {
    if (this.#recovery === undefined && !this.#abort.signal.aborted) void this.#recover();
    if (this.#recovery === undefined || this.#isRejecting) {
      return Promise.reject(new NotAppended('the leader is unreachable', { cause: this.#lastFailure }));
    }
    return this.#recovery.promise;
  }

  #replace(current: SenderConnection, error: unknown, { isKnown }: { readonly isKnown: boolean }): void {
    void drop(current);
    if (this.#current !== current) return;
    this.#current = undefined;
    this.#lastFailure = error;
    if (!isKnown) {
      this.#consecutiveFailures += 1;
      this.#connection.log.warn({ err: error }, 'an append to Kafka failed, its outcome is unknown');
    }
    void this.#recover();
  }

  /** Opens a new connection, with retries. */
  async #recover(): Promise<void> {
    const { signal } = this.#abort;
    const recovery = (this.#recovery = Promise.withResolvers<SenderConnection>());
    recovery.promise.catch(() => undefined); // waiting callers get the error
    const rejectAppends = () => {
      this.#isRejecting = true;
      recovery.reject(new NotAppended('the leader is unreachable', { cause: this.#lastFailure }));
    };
    this.#rejectWaiting = rejectAppends;
    const grace = setTimeout(rejectAppends, this.#consecutiveFailures === 0 ? connectTimeoutMs : graceMs);
    if (this.#consecutiveFailures > 1) {
      rejectAppends();
      await sleep(cooldownMs, undefined, { signal }).catch(() => undefined);
    }
    const current = await this.#connectUntilDone(signal);
    clearTimeout(grace);
    this.#recovery = undefined;
    this.#rejectWaiting = undefined;
    if (current === undefined) return recovery.reject(new NotAppended('the log is closed'));
    if (this.#isRejecting) this.#connection.log.info('Kafka reachable again');
    this.#isRejecting = false;
    this.#current = current;
    recovery.resolve(current);
  }

  async #connectUntilDone(signal: AbortSignal): Promise<SenderConnection | undefined> {
    const connect = async () => {
      try {
        return await this.#connect();
      } catch (error) {
        this.#lastFailure = error;
        if (isNotConnected(error)) this.#rejectWaiting?.();
        throw error;
      }
    };
    // The rejected appends name the failure.
    const current = await untilDone(connect, { signal, onFailure: () => undefined });
    if (current === undefined || !signal.aborted) return current;
    await drop(current);
    return undefined;
  }

  async #connect(): Promise<SenderConnection> {
    // No retries: a publish would wait for them, and a new connection is opened after each failure.
    const client = kafkaClient(this.#connection, { requestTimeoutMs: sendTimeoutMs, retries: 0 });
    const producer = client.kafka.producer({
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: () => partitionerOf(this.#nodeId),
      retry: { ...kafkaRetryPauses, retries: 0 },
    });
    const current = { client, producer };
    try {
      await within(connectTimeoutMs, 'connecting to Kafka', producer.connect());
      // An accepted connection proves nothing; an empty batch makes kafkajs load the topic's metadata.
      const topicMessages = [{ topic: this.#topic, messages: [] }];
      await within(connectTimeoutMs, 'Kafka’s metadata', producer.sendBatch({ topicMessages }));
      return current;
    } catch (error) {
      void drop(current);
      throw error;
    }
  }
}

/**
 * Takes the record's own partition, if this broker leads it. kafkajs would send the records of a moved partition to the
 * new leader, which may be silent and delay all others.
 */
function partitionerOf(nodeId: number): (args: PartitionerArgs) => number {
  let checked: PartitionMetadata[] | undefined;
  let led: ReadonlySet<number> = new Set();
  return ({ message, partitionMetadata }) => {
    if (partitionMetadata !== checked) {
      checked = partitionMetadata;
      led = new Set(checked.filter(({ leader }) => leader === nodeId).map(({ partitionId }) => partitionId));
    }
    const partition = message.partition ?? 0;
    if (!led.has(partition)) throw new NotLed(`broker ${nodeId} does not lead partition ${partition}`);
    return partition;
  };
}

function outcomeOf({ partition, errorCode, baseOffset }: ProducedPartition): number | Error {
  if (errorCode === 0 && baseOffset !== undefined) return Number(baseOffset);
  const reason = `Kafka responded with error ${errorCode} for partition ${partition}`;
  return notAppendedCodes.has(errorCode) ? new NotAppended(reason) : new Error(reason);
}

async function drop({ client, producer }: SenderConnection): Promise<void> {
  client.destroy();
  await producer.disconnect().catch(() => undefined);
  client.destroy();
}
