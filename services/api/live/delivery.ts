import { toMessageJson } from '@tocsin/shared/wire/message.ts';
import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';

/** A message as in history, for a stream. */
export const messageDelivery = (message: StoredMessage, topicName: string): Delivery =>
  new Delivery({ offset: message.offset, type: 'message', message }, topicName);

/** A record for streams. Its wire formats are encoded once per node and shared by all streams. */
export class Delivery {
  readonly offset: number;
  readonly type: RecordType;
  readonly messageId: string;
  readonly topicId: string;
  /** The topic name in the event. */
  readonly topicName: string;
  readonly #json: string;
  #sseEvent: Buffer | undefined;
  #sseEventWithId: Buffer | undefined;
  #frame: Buffer | undefined;

  constructor(record: { offset: number; type: RecordType; message: StoredMessage }, topicName: string) {
    this.offset = record.offset;
    this.type = record.type;
    this.messageId = record.message.id;
    this.topicId = record.message.topicId;
    this.topicName = topicName;
    this.#json = JSON.stringify(toMessageJson(record.message, topicName));
  }

  /** The event without its `id:` line: `event: …`, `data: …` and the terminating empty line. */
  get sseEvent(): Buffer {
    return (this.#sseEvent ??= Buffer.from(`event: ${this.type}\ndata: ${this.#json}\n\n`));
  }

  /** The event of a single-topic stream: a message has its ID, a change has none, so that it never moves a position back. */
  get sseEventWithId(): Buffer {
    if (this.type !== 'message') return this.sseEvent;
    return (this.#sseEventWithId ??= Buffer.concat([Buffer.from(`id: ${this.messageId}\n`), this.sseEvent]));
  }

  /** The WebSocket frame's text: the message object with its `type`. */
  get frame(): Buffer {
    return (this.#frame ??= Buffer.from(`{"type":"${this.type}",${this.#json.slice(1)}`));
  }
}
