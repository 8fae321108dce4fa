import net from 'node:net';
import tls from 'node:tls';
import { Kafka, logLevel, type LogEntry, type SASLOptions } from 'kafkajs';
import type { KafkaSasl, KafkaTls } from '../../../platform/load-config.ts';
import type { Logger } from '../../../platform/logger.ts';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of some of the brokers; the others are learned from them. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls?: KafkaTls | undefined;
  readonly sasl?: KafkaSasl | undefined;
  readonly log: Logger;
}

/** A connection as the driver's parts use it. */
export interface KafkaWiring extends KafkaConnection {
  /** Takes kafkajs' own lines; one for all clients, since a repetition from another client is still one. */
  readonly clientLog: (entry: LogEntry) => void;
}

/** One kafkajs client with sockets of its own. */
export interface KafkaClient {
  readonly kafka: Kafka;
  /** Cuts all its connections at once: whatever waits on them fails now, and no timer of theirs stays. */
  destroy(): void;
}

export interface KafkaClientOptions {
  readonly requestTimeoutMs: number;
  /** How often connecting is tried again, with the next broker of the list, before the client gives up. Default 2. */
  readonly retries?: number;
}

/** A network that swallows packets must not hold up the next attempt for longer. */
const connectionTimeoutMs = 2_000;
const keepAliveMs = 30_000;
/** The same complaint again within this time goes to the debug level: an outage would write hundreds a minute. */
const repeatedAfterMs = 10_000;
const givenUp = 'given up by Tocsin';

/**
 * Makes a client. kafkajs shares state between what is made from one client (committed offsets of groups) and starts
 * with the first broker of the list, so each producer, consumer and admin has its own, with the list shuffled.
 */
export function kafkaClient(
  connection: KafkaWiring,
  { requestTimeoutMs, retries = 2 }: KafkaClientOptions,
): KafkaClient {
  const sockets = new Set<net.Socket>();
  const brokers = [...connection.brokers].sort(() => Math.random() - 0.5);
  const kafka = new Kafka({
    brokers,
    clientId: connection.clientId,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    ...(connection.tls === undefined ? {} : { ssl: { ...connection.tls } }),
    ...(connection.sasl === undefined ? {} : { sasl: connection.sasl as SASLOptions }),
    retry: { ...shortPauses, retries: Math.max(retries, brokers.length) },
    logLevel: connection.log.isLevelEnabled('debug') ? logLevel.INFO : logLevel.WARN,
    logCreator: () => connection.clientLog,
    socketFactory: ({ host, port, ssl, onConnect }) => {
      const socket = ssl
        ? tls.connect({ host, port, ...(net.isIP(host) ? {} : { servername: host }), ...(ssl as object) }, onConnect)
        : net.connect({ host, port }, onConnect);
      socket.setKeepAlive(true, keepAliveMs);
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        socket.unref = () => socket; // kafkajs does it again and again through an outage, and each adds a listener
      });
      return socket;
    },
  });
  return {
    kafka,
    destroy: () => {
      // kafkajs listens for 'error' and 'end' only: without an error it would wait for answers on a closed socket.
      for (const socket of sockets) socket.destroy(new Error(givenUp));
    },
  };
}

/** All of it is stated: kafkajs has other defaults where NODE_ENV is `test`. */
export const shortPauses = { initialRetryTime: 50, maxRetryTime: 500, factor: 0.2, multiplier: 2 } as const;

/**
 * Where kafkajs' own lines go: errors and warnings become warnings, repeated ones and the rest are for debugging. They
 * hold no record's content.
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
    const isOurs = message.endsWith(givenUp);
    const isRepeated = now - (warnedAt.get(text) ?? -Infinity) < repeatedAfterMs;
    if (level > logLevel.WARN || isRepeated || isOurs) return log.debug(details, text);
    if (warnedAt.size >= 100) warnedAt.clear();
    warnedAt.set(text, now);
    log.warn(details, text);
  };
}
