import type { Sink, SinkDelivery } from '../../domain/sinks/sink.ts';
import { sinkLimits } from '../../domain/sinks/sink.ts';
import type { Collection, Document, Documents } from '../../ports/documents.ts';

export const sinks: Collection<Sink> = {
  name: 'sinks',
  fields: {
    topicId: 'text',
    createdBy: 'text',
    name: 'text',
    kind: 'text',
    url: 'text',
    headers: 'json',
    filter: 'json',
    secret: 'text',
    createdAt: 'time',
    state: 'text',
    stateReason: 'text',
    offset: 'integer',
    revision: 'integer',
    attempts: 'integer',
    failingSince: 'time',
    retryAt: 'time',
    delivered: 'integer',
    skipped: 'integer',
    testAt: 'time',
    isIdle: 'boolean',
    dueAt: 'time',
    claim: 'text',
  },
  uniqueKeys: {},
  indexes: {
    byTopic: ['topicId', 'createdAt'],
    byIdle: ['topicId', 'isIdle'],
    byCreator: ['createdBy', 'createdAt'],
    byDue: ['dueAt'],
  },
};

/** A topic that has or had sinks; has the topic's ID, so that one query selects among many topics. */
export interface SinkTopic extends Document {
  /** An offset that its log has reached, as far as notifiers know. */
  readonly head: number;
}

export const sinkTopics: Collection<SinkTopic> = {
  name: 'sinkTopics',
  fields: { head: 'integer' },
  uniqueKeys: {},
  indexes: {},
};

/** Consecutive deliveries of a sink, oldest first. One document for many, because each progress stores some. */
export interface SinkDeliveryPage extends Document {
  readonly sinkId: string;
  readonly topicId: string;
  /** Pages count from 1. */
  readonly number: number;
  readonly deliveries: readonly SinkDelivery[];
}

export const sinkDeliveryPages: Collection<SinkDeliveryPage> = {
  name: 'sinkDeliveryPages',
  fields: { sinkId: 'text', topicId: 'text', number: 'integer', deliveries: 'json' },
  uniqueKeys: { number: ['sinkId', 'number'] },
  indexes: { byTopic: ['topicId', 'sinkId'] },
};

export const deliveriesPerPage = 50;
/** One more than the last deliveries need, because the newest page is not full. */
export const deliveryPagesMax = sinkLimits.deliveries / deliveriesPerPage + 1;

/** Returns the topic's sinks, oldest first. */
export function findSinks(documents: Pick<Documents, 'find'>, topicId: string): Promise<Sink[]> {
  return documents.find(sinks, { index: 'byTopic', equals: { topicId }, limit: sinkLimits.perTopic });
}

/** Returns the sink's newest pages, newest first. */
export function findDeliveryPages(
  documents: Pick<Documents, 'find'>,
  sinkId: string,
  limit = deliveryPagesMax,
): Promise<SinkDeliveryPage[]> {
  return documents.find(sinkDeliveryPages, { index: 'number', equals: { sinkId }, descending: true, limit });
}
