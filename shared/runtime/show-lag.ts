import { Gauge, type Registry } from 'prom-client';
import type { EventLog } from '../ports/event-log.ts';

/** Shows how far a consumer group is behind the log, asked for when somebody looks. Every process of an installation shows the same. */
export function showLag(registry: Registry, eventLog: Pick<EventLog, 'lag'>, group: string): void {
  new Gauge({
    name: `tocsin_${group}_lag_records`,
    help: `Records of the log that the ${group} has not handled, over all partitions; the same from every process`,
    registers: [registry],
    async collect() {
      this.set(await eventLog.lag(group).catch(() => Number.NaN));
    },
  });
}
