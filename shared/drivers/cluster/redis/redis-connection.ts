import { Redis, type RedisOptions } from 'ioredis';
import { StandaloneConnector } from 'ioredis/built/connectors/index.js';
import { unavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../platform/logger.ts';

export interface RedisConnectionOptions {
  readonly url: string;
  /** What it is for; shown in the log and by `CLIENT LIST`. */
  readonly name: string;
  /** The part of the system that is unavailable without it, for the user: `Bus`. */
  readonly part: string;
  readonly log: Logger;
  readonly redis?: RedisOptions;
}

/**
 * A Redis that answers nothing is given up after three of these without a byte, one that does not let us in after eight.
 * Streams go by the store once it is given up, so this is most of what they fall behind. To give up one that was only
 * slow costs a connection and a look at the store.
 */
const heartbeatMs = 250;
const silentBeatsMax = 3;
const handshakeBeatsMax = 8;
/** Every how many heartbeats a Redis is asked whether it still is the primary. */
const beatsPerLook = 4;
const isReplica = 'it is a replica, which takes no writes';

/** Harm prevented: a command whose answer never comes holding up a request. */
const commandTimeoutMs = 1_000;

/**
 * One connection to Redis that fails fast: nothing waits for its return, and a Redis that is silent (stopped, cut off
 * without a word) is away after a second. It reconnects by itself for ever, at most a second between two tries.
 *
 * A replica is as good as away: where Redis fails over, its address leads to the new primary soon, and the former one may keep
 * its connections. It would refuse all writes, and what is published there reaches nobody who listens at the new one.
 */
export class RedisConnection {
  readonly redis: Redis;
  /** For the log, when the connection does not come up. */
  lastError: Error | undefined;
  readonly #name: string;
  readonly #part: string;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #isUp = false;
  #isClosed = false;
  #silentBeats = 0;
  #bytesRead = 0;
  #beats = 0;
  #isToldOfReplica = false;

  constructor({ url, name, part, log, redis = {} }: RedisConnectionOptions) {
    this.#name = name;
    this.#part = part;
    this.#log = log;
    const noteReplica = () => this.#noteReplica();
    this.redis = new Redis(url, {
      Connector: class extends StandaloneConnector {
        override check(info?: { role?: string }): boolean {
          if (info?.role === 'slave') noteReplica();
          return info?.role !== 'slave';
        }
      } as RedisOptions['Connector'],
      // One that became a replica says so at the first write, also to the connections that are made from this one.
      reconnectOnError: (error) => error.message.includes('READONLY '),
      connectionName: name,
      disableClientInfo: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      autoResendUnfulfilledCommands: false,
      commandTimeout: commandTimeoutMs,
      connectTimeout: 2_000,
      disconnectTimeout: 50,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 5), 1_000) * (0.5 + Math.random() / 2),
      ...redis,
    });
    this.redis.on('error', (error: Error) => {
      this.lastError = error;
      log.debug({ err: error, connection: name }, 'redis: an error of the connection');
    });
    this.redis.on('ready', () => this.#setUp(true));
    this.redis.on('close', () => this.#setUp(false));
    this.#timer = setInterval(() => this.#beat(), heartbeatMs);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Calls the listener with true when commands are taken again, and with false when no longer. */
  onChange(listener: (isUp: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves when the connection is up, or after the time without it. */
  async settle(timeoutMs: number): Promise<void> {
    if (this.#isUp) return;
    const settled = Promise.withResolvers<void>();
    const timer = setTimeout(settled.resolve, timeoutMs);
    this.redis.once('ready', settled.resolve);
    await settled.promise;
    clearTimeout(timer);
    this.redis.off('ready', settled.resolve);
  }

  /** Runs commands; throws `unavailable` at once while the connection is down, and when they fail or time out. */
  async run<T>(commands: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.#isUp) throw unavailable(this.#part);
    try {
      return await commands(this.redis);
    } catch (error) {
      throw unavailable(this.#part, error);
    }
  }

  /** Drops a connection that stands but does not serve, and makes a new one. */
  reset(): void {
    if (this.#isUp) this.#drop();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isUp = false;
    clearInterval(this.#timer);
    this.redis.disconnect();
  }

  #setUp(isUp: boolean): void {
    if (this.#isClosed || this.#isUp === isUp) return;
    this.#isUp = isUp;
    this.#silentBeats = 0;
    if (isUp) this.#isToldOfReplica = false;
    this.#log[isUp ? 'info' : 'warn']({ connection: this.#name }, isUp ? 'redis: connected' : 'redis: connection lost');
    for (const listener of this.#listeners) listener(isUp);
  }

  /**
   * Beats are counted, not milliseconds: after a pause of this process one beat passes, however long it was, and what
   * Redis sent meanwhile is read before the next.
   */
  #beat(): void {
    const { status, stream } = this.redis;
    if (status !== 'ready' && status !== 'connect') {
      this.#silentBeats = 0;
      return;
    }
    if (stream.bytesRead !== this.#bytesRead) this.#silentBeats = 0;
    else this.#silentBeats += 1;
    this.#bytesRead = stream.bytesRead;
    if (this.#silentBeats >= (status === 'ready' ? silentBeatsMax : handshakeBeatsMax)) {
      this.#log.warn({ connection: this.#name }, 'redis: no answer');
      this.#drop();
    } else if (status === 'ready') {
      this.redis.ping().catch(() => undefined); // its silence is what counts
      this.#beats += 1;
      if (this.#beats % beatsPerLook === 0) void this.#look();
    }
  }

  /** Who only publishes is told by no refused write that this Redis became a replica. */
  async #look(): Promise<void> {
    const { stream } = this.redis;
    const told = await this.redis.info('replication').catch(() => ''); // not everybody may ask
    if (!told.includes('role:slave') || stream !== this.redis.stream || this.#isClosed) return;
    this.#noteReplica();
    this.#drop();
  }

  #noteReplica(): void {
    this.lastError = new Error(isReplica);
    if (!this.#isToldOfReplica)
      this.#log.warn({ connection: this.#name }, `redis: ${isReplica}; the primary is looked for`);
    this.#isToldOfReplica = true;
  }

  #drop(): void {
    this.#silentBeats = 0;
    this.#setUp(false);
    this.redis.disconnect(true);
  }
}
