import { Gauge, type Registry } from 'prom-client';
import type { EventLog } from '../ports/event-log.ts';

/**
 * Exposes the lag of a consumer group, measured at scrape time. Every process of an installation reports the same
 * value.
 */
export function showLag(
  registry: Registry,
  eventLog: Pick<EventLog, 'lag' | 'unread' | 'removedMembers'>,
  group: string,
): void {
  new Gauge({
    name: `tocsin_${group}_lag_records`,
    help: `Records of the log that the ${group} has not processed, over all partitions; the same from every process`,
    registers: [registry],
    async collect() {
      this.set(await eventLog.lag(group).catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: `tocsin_${group}_halted_partitions`,
    help: `Partitions of the log that this ${group} does not read, because the log lost records that it handled`,
    registers: [registry],
    collect() {
      this.set(eventLog.unread(group).haltedPartitions);
    },
  });
  new Gauge({
    name: `tocsin_${group}_lost_records`,
    help: `Records that the log removed before this ${group} read them, since its start`,
    registers: [registry],
    collect() {
      this.set(eventLog.unread(group).lost);
    },
  });
  new Gauge({
    name: `tocsin_${group}_removed_members`,
    help: `Processes that this ${group} removed from the group because they did not respond, since its start`,
    registers: [registry],
    collect() {
      this.set(eventLog.removedMembers(group));
    },
  });
}
