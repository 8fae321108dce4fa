import { createRequire } from 'node:module';

interface ConsumerGroup {
  readonly cluster: { removeBroker(broker: { host: string; port: number }): void };
  recoverFromFetch(error: Error & { broker?: string }): Promise<void>;
}

const patched = Symbol('tocsin: fetch timeout patched');

/**
 * Makes kafkajs 2.2.4 forget a broker whose fetch timed out, as it does with one that closed the connection. Otherwise it asks
 * the silent broker again until its metadata expires after five minutes, even if the partitions have another leader, and
 * stops the fetches from all other brokers meanwhile.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function patchKafkaFetchTimeout(): boolean {
  const proto = consumerGroupPrototype();
  if (proto === undefined) return false;
  if (patched in proto) return true;
  const recover = proto.recoverFromFetch;
  proto.recoverFromFetch = async function (this: ConsumerGroup, error): Promise<void> {
    const [, host, port] = /^(.+):(\d+)$/.exec(error.broker ?? '') ?? [];
    if (error.name !== 'KafkaJSRequestTimeoutError' || host === undefined) return recover.call(this, error);
    this.cluster.removeBroker({ host, port: Number(port) });
  };
  Object.defineProperty(proto, patched, { value: true });
  return true;
}

function consumerGroupPrototype(): ConsumerGroup | undefined {
  try {
    const group = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup') as { prototype?: ConsumerGroup };
    return typeof group.prototype?.recoverFromFetch === 'function' ? group.prototype : undefined;
  } catch {
    return undefined; // the file does not exist in other versions
  }
}
