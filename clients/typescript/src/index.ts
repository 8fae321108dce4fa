export type { ClientOptions } from './connection.ts';
export type { Batch, ConsumeOptions } from './consume-log.ts';
export { isGap, type GapEntry, type LogEntry, type LogOptions } from './read-log.ts';
export type { Consumer, Gap, LogRecord, Message, Published } from './schemas.ts';
export type { MessageEvent, ReadyEvent, StreamEvent, SubscribeOptions } from './subscribe.ts';
export { TocsinClient, type PublishOptions } from './tocsin-client.ts';
export { TocsinError } from './tocsin-error.ts';
export type { TopicFilter } from './topic-filter.ts';
