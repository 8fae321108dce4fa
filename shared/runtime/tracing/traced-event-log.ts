import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import type { ConsumeOptions, EventLog, RecordBatch } from '../../ports/event-log.ts';
import { messagingOperation, type Span, type SpanAttributes, type Tracing } from './tracing.ts';

export interface TracedLogOptions {
  readonly tracing: Tracing;
  /** `messaging.system`. */
  readonly system: string;
  /** The name of the log: its Kafka topic. */
  readonly name: string;
}

/**
 * Wraps the log: adds a span per append, whose context is stored in the record, and a span per record that a group
 * handles, whose context the handler receives in the record.
 */
export function tracedEventLog(log: EventLog, { tracing, system, name }: TracedLogOptions): EventLog {
  const of = { 'messaging.system': system, 'messaging.destination.name': name };
  const startHandling = (group: string, { partition, offset, record }: PlacedRecord): Span =>
    tracing.start({
      name: `process ${name}`,
      kind: 'consumer',
      parent: record.trace ?? null,
      attributes: {
        ...of,
        ...messagingOperation('process'),
        'messaging.consumer.group.name': group,
        ...placeOf(partition, record),
        'tocsin.log.position': offset,
      },
    });
  const handle = async (batch: RecordBatch, { group, onBatch }: ConsumeOptions): Promise<void> => {
    const spans = batch.records.map((placed) => startHandling(group, placed));
    const records = batch.records.map((placed, index) => ({
      ...placed,
      record: { ...placed.record, trace: spans[index]!.context },
    }));
    const run = (): Promise<void> => onBatch({ ...batch, records });
    try {
      // With several records, the handler's work belongs to none of them.
      await (spans.length === 1 ? tracing.within(spans[0]!, run) : run());
      for (const span of spans) span.end();
    } catch (error) {
      for (const span of spans) span.end(error);
      throw error;
    }
  };
  return {
    get partitions() {
      return log.partitions;
    },
    append: (partition, record, topicName) =>
      tracing.span(
        {
          name: `send ${name}`,
          kind: 'producer',
          attributes: { ...of, ...messagingOperation('send'), ...placeOf(partition, record) },
        },
        async (span) => {
          const offset = await log.append(partition, { ...record, trace: span.context }, topicName);
          span.set({ 'tocsin.log.position': offset });
          return offset;
        },
      ),
    consume: (options) => log.consume({ ...options, onBatch: (batch) => handle(batch, options) }),
    end: (partition) => log.end(partition),
    lag: (group) => log.lag(group),
    unread: (group) => log.unread(group),
    removedMembers: (group) => log.removedMembers(group),
    ping: () => log.ping(),
    close: () => log.close(),
  };
}

function placeOf(partition: number, { type, message }: PlacedRecord['record']): SpanAttributes {
  return {
    'messaging.destination.partition.id': String(partition),
    'messaging.message.id': message.id,
    'tocsin.topic.id': message.topicId,
    'tocsin.record.type': type,
  };
}
