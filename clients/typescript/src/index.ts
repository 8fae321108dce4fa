export type { ClientOptions } from './connection.ts';
export type { Batch, ConsumeOptions } from './consume-log.ts';
export { isRecord, nextOffset, type GapEntry, type LogEntry, type LogOptions, type PositionEntry } from './read-log.ts';
export type { Consumer, Gap, LogRecord, Message, Published } from './schemas.ts';
export type { MessageEvent, PositionEvent, ReadyEvent, StreamEvent, SubscribeOptions } from './subscribe.ts';
export { TocsinClient, type PublishOptions } from './tocsin-client.ts';
export { TocsinError } from './tocsin-error.ts';
export type { TopicFilter } from './topic-filter.ts';
