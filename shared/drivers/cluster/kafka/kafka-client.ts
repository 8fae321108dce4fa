import net from 'node:net';
import tls from 'node:tls';
import { Kafka, logLevel, type LogEntry, type SASLOptions } from 'kafkajs';
import type { KafkaSasl, KafkaTls } from '../../../platform/load-config.ts';
import type { Logger } from '../../../platform/logger.ts';

/** Connection settings of the brokers. */
export interface KafkaConnection {
  /** `host:port` of some brokers; they announce the others. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls?: KafkaTls | undefined;
  readonly sasl?: KafkaSasl | undefined;
  readonly log: Logger;
}

/** The connection settings and loggers that the driver's components share. */
export interface KafkaContext extends KafkaConnection {
  /** Receives kafkajs' log lines; shared by all clients to suppress repetitions. */
  readonly clientLog: (entry: LogEntry) => void;
}

/** A kafkajs client with its own sockets. */
export interface KafkaClient {
  readonly kafka: Kafka;
  /** Closes all connections and timers, and allows no new ones. Pending requests fail immediately. */
  destroy(): void;
}

export interface KafkaClientOptions {
  readonly requestTimeoutMs: number;
  /**
   * The number of retries before a request for metadata or a connection attempt fails. A connection attempt asks each
   * broker at least once. Default 2.
   */
  readonly retries?: number;
}

/** Time limit of a connection attempt, for networks that drop packets. */
const connectionTimeoutMs = 2_000;
const keepAliveMs = 30_000;
/**
 * Repetitions of a log line within this time are logged at debug level, because an outage causes hundreds per minute.
 */
const repeatedAfterMs = 10_000;
const closedByTocsin = 'closed by Tocsin';

/**
 * Creates a client for one producer, consumer or admin, because those of one kafkajs client share state (committed
 * offsets). Shuffles the brokers, because kafkajs always starts with the first one.
 */
export function kafkaClient(
  connection: KafkaContext,
  { requestTimeoutMs, retries = 2 }: KafkaClientOptions,
): KafkaClient {
  const sockets = new Set<net.Socket>();
  let isDestroyed = false;
  const brokers = [...connection.brokers].sort(() => Math.random() - 0.5);
  const kafka = new Kafka({
    brokers,
    clientId: connection.clientId,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    ...(connection.tls === undefined ? {} : { ssl: { ...connection.tls } }),
    ...(connection.sasl === undefined ? {} : { sasl: connection.sasl as SASLOptions }),
    retry: { ...kafkaRetryPauses, retries: Math.max(retries, brokers.length - 1) },
    logLevel: connection.log.isLevelEnabled('debug') ? logLevel.INFO : logLevel.WARN,
    logCreator: () => (entry) =>
      // The errors of a destroyed client are consequences of its end.
      connection.clientLog(isDestroyed ? { ...entry, level: logLevel.DEBUG } : entry),
    socketFactory: ({ host, port, ssl, onConnect }) => {
      // A call that was under way connects again.
      if (isDestroyed) throw new Error(closedByTocsin);
      const socket = ssl
        ? tls.connect({ host, port, ...(net.isIP(host) ? {} : { servername: host }), ...(ssl as object) }, onConnect)
        : net.connect({ host, port }, onConnect);
      socket.setKeepAlive(true, keepAliveMs);
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        socket.unref = () => socket; // kafkajs calls it repeatedly during an outage and adds a listener each time
      });
      return socket;
    },
  });
  return {
    kafka,
    destroy: () => {
      isDestroyed = true;
      brokers.length = 0; // kafkajs reads the list before it tries again to connect, and gives up if it is empty
      // kafkajs listens only for 'error' and 'end': without an error it would wait for responses on a closed socket.
      for (const socket of sockets) socket.destroy(new Error(closedByTocsin));
    },
  };
}

/** All options are explicit, because kafkajs has other defaults if NODE_ENV is `test`. */
export const kafkaRetryPauses = { initialRetryTime: 50, maxRetryTime: 500, factor: 0.2, multiplier: 2 } as const;

/**
 * Maps kafkajs' log lines: errors and warnings become warnings; repetitions and other lines are debug. They
 * contain no record content.
 */
export function kafkaClientLog(log: Logger): (entry: LogEntry) => void {
  const warnedAt = new Map<string, number>();
  return ({
    level,
    namespace,
    log: { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...details },
  }) => {
    const text = `kafkajs ${namespace}: ${message}`;
    const now = performance.now();
    const isRepeated = now - (warnedAt.get(text) ?? -Infinity) < repeatedAfterMs;
    if (level > logLevel.WARN || isRepeated) return log.debug(details, text);
    if (warnedAt.size >= 100) warnedAt.clear();
    warnedAt.set(text, now);
    log.warn(details, text);
  };
}
