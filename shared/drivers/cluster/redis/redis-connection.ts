import { Redis, type RedisOptions } from 'ioredis';
import { StandaloneConnector } from 'ioredis/built/connectors/index.js';
import { coalescedInterval } from '../../../async/coalesced-timer.ts';
import { corkThisTurn } from '../../../async/cork-this-turn.ts';
import { unavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../platform/logger.ts';

export interface RedisConnectionOptions {
  readonly url: string;
  /** The purpose of the connection, shown in the log and by `CLIENT LIST`. */
  readonly name: string;
  /** The component that is unavailable without it, for error messages: `Bus`. */
  readonly part: string;
  readonly log: Logger;
  /** Default 250; three times as long passes before a silent Redis counts as down. */
  readonly heartbeatMs?: number;
  readonly redis?: RedisOptions;
}

/**
 * A silent Redis counts as down after three heartbeats without a received byte, or two seconds during the login.
 * Streams then read from the store, so this is most of their delay. Disconnecting from a Redis that is only slow costs
 * a reconnect and a read of the store.
 */
const heartbeatMsDefault = 250;
const silentHeartbeatsMax = 3;
const handshakeMsMax = 2_000;
/** The number of heartbeats between checks whether Redis is still the primary. */
const heartbeatsPerRoleCheck = 4;
const isReplica = 'it is a replica, which rejects writes';

/** The time limit of a command. */
const commandTimeoutMs = 1_000;

/**
 * A connection to Redis that fails fast: commands do not wait for a reconnect, and a silent Redis (stopped or
 * disconnected) counts as down after a second. It reconnects forever, with at most a second between attempts.
 *
 * A replica counts as down: after a failover, the address soon points to the new primary, and the former one may keep
 * its connections. It would reject all writes, and its publishes would not reach subscribers of the new one.
 */
export class RedisConnection {
  readonly redis: Redis;
  /** The last connection error, for the logger. */
  lastError: Error | undefined;
  readonly #name: string;
  readonly #part: string;
  readonly #log: Logger;
  readonly #stopHeartbeats: () => void;
  readonly #handshakeHeartbeatsMax: number;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #isUp = false;
  #isClosed = false;
  #silentHeartbeats = 0;
  #bytesRead = 0;
  #heartbeats = 0;
  #hasLoggedReplica = false;

  constructor({ url, name, part, log, heartbeatMs = heartbeatMsDefault, redis = {} }: RedisConnectionOptions) {
    this.#name = name;
    this.#part = part;
    this.#log = log;
    const onReplica = () => this.#onReplica();
    this.redis = new Redis(url, {
      Connector: class extends StandaloneConnector {
        override check(info?: { role?: string }): boolean {
          if (info?.role === 'slave') onReplica();
          return info?.role !== 'slave';
        }
      } as RedisOptions['Connector'],
      // A demoted primary rejects the first write. Also applies to duplicated connections.
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
      log.debug({ err: error, connection: name }, 'Redis connection error');
    });
    this.redis.on('ready', () => this.#setUp(true));
    this.redis.on('close', () => this.#setUp(false));
    this.#handshakeHeartbeatsMax = Math.ceil(handshakeMsMax / heartbeatMs);
    this.#stopHeartbeats = coalescedInterval(heartbeatMs, () => this.#onHeartbeat());
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Calls the listener with true when commands are accepted, and with false when they are not. */
  onChange(listener: (isUp: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves when the connection is up, or after the timeout. */
  async waitUntilUp(timeoutMs: number): Promise<void> {
    if (this.#isUp) return;
    const settled = Promise.withResolvers<void>();
    const timer = setTimeout(settled.resolve, timeoutMs);
    this.redis.once('ready', settled.resolve);
    await settled.promise;
    clearTimeout(timer);
    this.redis.off('ready', settled.resolve);
  }

  /** Runs commands. Throws `unavailable` if they fail or time out, and immediately while the connection is down. */
  async run<T>(commands: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.#isUp) throw unavailable(this.#part);
    corkThisTurn(this.redis.stream);
    try {
      return await commands(this.redis);
    } catch (error) {
      throw unavailable(this.#part, error);
    }
  }

  /** Drops an open but unusable connection, and reconnects. */
  reset(): void {
    if (this.#isUp) this.#drop();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isUp = false;
    this.#stopHeartbeats();
    this.redis.disconnect();
  }

  #setUp(isUp: boolean): void {
    if (this.#isClosed || this.#isUp === isUp) return;
    this.#isUp = isUp;
    this.#silentHeartbeats = 0;
    if (isUp) this.#hasLoggedReplica = false;
    this.#log[isUp ? 'info' : 'warn']({ connection: this.#name }, isUp ? 'redis: connected' : 'redis: connection lost');
    for (const listener of this.#listeners) listener(isUp);
  }

  /**
   * Counts heartbeats instead of milliseconds: a pause of this process counts as one heartbeat, and data that
   * Redis sent meanwhile is read before the next one.
   */
  #onHeartbeat(): void {
    const { status, stream } = this.redis;
    if (status !== 'ready' && status !== 'connect') {
      this.#silentHeartbeats = 0;
      return;
    }
    const isSilent = stream.bytesRead === this.#bytesRead;
    this.#silentHeartbeats = isSilent ? this.#silentHeartbeats + 1 : 0;
    this.#bytesRead = stream.bytesRead;
    if (this.#silentHeartbeats >= (status === 'ready' ? silentHeartbeatsMax : this.#handshakeHeartbeatsMax)) {
      this.#log.warn({ connection: this.#name }, 'redis: no response');
      this.#drop();
    } else if (status === 'ready') {
      if (isSilent) this.redis.ping().catch(() => undefined); // only silence counts
      this.#heartbeats += 1;
      if (this.#heartbeats % heartbeatsPerRoleCheck === 0) void this.#checkRole();
    }
  }

  /** A connection that only publishes would not notice that Redis became a replica, so asks for its role. */
  async #checkRole(): Promise<void> {
    const { stream } = this.redis;
    const replicationInfo = await this.redis.info('replication').catch(() => ''); // the command may be forbidden
    if (!replicationInfo.includes('role:slave') || stream !== this.redis.stream || this.#isClosed) return;
    this.#onReplica();
    this.#drop();
  }

  #onReplica(): void {
    this.lastError = new Error(isReplica);
    if (!this.#hasLoggedReplica)
      this.#log.warn({ connection: this.#name }, `Redis: ${isReplica}; searching for the primary`);
    this.#hasLoggedReplica = true;
  }

  #drop(): void {
    this.#silentHeartbeats = 0;
    this.#setUp(false);
    this.redis.disconnect(true);
  }
}
