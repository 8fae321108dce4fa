import type { ClusterConfig } from '../../../platform/load-config.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { KafkaConnection } from './kafka-client.ts';

/** The configured connection to the brokers. */
export function kafkaConnection(stores: ClusterConfig, log: Logger): KafkaConnection {
  return { brokers: stores.kafkaBrokers, tls: stores.kafkaTls, sasl: stores.kafkaSasl, clientId: 'tocsin', log };
}
