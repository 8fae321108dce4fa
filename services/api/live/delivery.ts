import { toMessageJson } from '@tocsin/shared/wire/message.ts';
import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';

/** A message as in history, for a stream. */
export const messageDelivery = (message: StoredMessage, topicName: string): Delivery =>
  new Delivery({ offset: message.offset, type: 'message', message }, topicName);

/** An estimate of the memory of the objects of a delivery and its message, without texts. */
const overheadBytes = 1_000;
/** The texts of a delivery: the JSON, the SSE event and the WebSocket frame. */
const formats = 3;

/** A record for streams. Its wire formats are encoded once per node and shared by all streams. */
export class Delivery {
  readonly offset: number;
  readonly type: RecordType;
  readonly messageId: string;
  readonly topicId: string;
  /** The topic name in the event. */
  readonly topicName: string;
  /** An estimate of the memory of the record with its wire formats. */
  readonly bytes: number;
  readonly #json: string;
  #sseEventWithId: Buffer | undefined;
  #frame: Buffer | undefined;

  constructor(record: { offset: number; type: RecordType; message: StoredMessage }, topicName: string) {
    this.offset = record.offset;
    this.type = record.type;
    this.messageId = record.message.id;
    this.topicId = record.message.topicId;
    this.topicName = topicName;
    this.#json = JSON.stringify(toMessageJson(record.message, topicName));
    this.bytes = overheadBytes + formats * Buffer.byteLength(this.#json);
  }

  /** The event without its `id:` line: `event: …`, `data: …` and the terminating empty line. */
  get sseEvent(): Buffer {
    return this.sseEventWithId.subarray(this.#idLine().length);
  }

  /**
   * The event of a single-topic stream: a message has its ID, a change has none, so that it never moves a position
   * back.
   */
  get sseEventWithId(): Buffer {
    return (this.#sseEventWithId ??= Buffer.from(`${this.#idLine()}event: ${this.type}\ndata: ${this.#json}\n\n`));
  }

  /** ASCII, so its length is also its number of bytes. */
  #idLine(): string {
    return this.type === 'message' ? `id: ${this.messageId}\n` : '';
  }

  /** The WebSocket frame's text: the message object with its `type`. */
  get frame(): Buffer {
    return (this.#frame ??= Buffer.from(`{"type":"${this.type}",${this.#json.slice(1)}`));
  }
}
