import type { Actor } from '@tocsin/shared/domain/messages/actor.ts';
import { toActorJson, toMessageJson, type MessageView } from '@tocsin/shared/wire/message.ts';
import type { FilteredContent } from '@tocsin/shared/domain/messages/content-filter.ts';
import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';

/** A message as in history, for a stream. */
export const messageDelivery = (message: StoredMessage, topicName: string): Delivery =>
  recordDelivery({ offset: message.offset, type: 'message', message }, topicName);

/** A record for streams, as readers of the topic see it. */
export const recordDelivery = (
  record: { offset: number; type: RecordType; message: StoredMessage },
  topicName: string,
): Delivery => new Delivery(record, topicName, JSON.stringify(toMessageJson(record.message, topicName, 'reader')));

/** An estimate of the memory of the objects of a delivery and its message, without texts. */
const overheadBytes = 1_000;
/** The texts of a delivery: the JSON, the SSE event and the WebSocket frame. */
const formats = 3;

/** Ends a chunk of a response (RFC 9112 §7.1). */
const chunkTerminator = '\r\n';

/** A record for streams. Its wire formats are encoded once per node and shared by all streams. */
export class Delivery {
  readonly offset: number;
  readonly type: RecordType;
  readonly messageId: string;
  readonly topicId: string;
  /** What filters of streams compare. */
  readonly content: FilteredContent;
  /** The topic name in the event. */
  readonly topicName: string;
  /** An estimate of the memory of the record with its wire formats. */
  readonly bytes: number;
  readonly #json: string;
  readonly #publishedBy: Actor | null;
  #forManagers: Delivery | undefined;
  #sseChunk: Buffer | undefined;
  #sseChunkEnd: Buffer | undefined;
  #frame: Buffer | undefined;

  constructor(
    record: {
      readonly offset: number;
      readonly type: RecordType;
      readonly message: FilteredContent & Pick<StoredMessage, 'id' | 'topicId' | 'publishedBy'>;
    },
    topicName: string,
    json: string,
  ) {
    this.offset = record.offset;
    this.type = record.type;
    this.messageId = record.message.id;
    this.topicId = record.message.topicId;
    this.content = record.message;
    this.topicName = topicName;
    this.#publishedBy = record.message.publishedBy;
    this.#json = json;
    this.bytes = overheadBytes + formats * Buffer.byteLength(this.#json);
  }

  /** Returns the same record as the view shows it. */
  as(view: MessageView): Delivery {
    if (view === 'reader' || this.#publishedBy === null) return this;
    return (this.#forManagers ??= new Delivery(
      {
        offset: this.offset,
        type: this.type,
        message: { ...this.content, id: this.messageId, topicId: this.topicId, publishedBy: null },
      },
      this.topicName,
      // The last field of the message object.
      `${this.#json.slice(0, -'null}'.length)}${JSON.stringify(toActorJson(this.#publishedBy))}}`,
    ));
  }

  /** The event without its `id:` line: `event: …`, `data: …` and the terminating empty line. */
  get sseEvent(): Buffer {
    return this.sseChunkEnd.subarray(0, -chunkTerminator.length);
  }

  /** Returns the start of the event as a chunk of a response, with the position of a stream; `sseChunkEnd` follows. */
  sseChunkStart(id: string): string {
    const idLine = `id: ${id}\n`;
    const bytes = idLine.length + this.sseChunkEnd.length - chunkTerminator.length;
    return `${bytes.toString(16)}\r\n${idLine}`;
  }

  /** The event without its `id:` line, with the terminator of a chunk. */
  get sseChunkEnd(): Buffer {
    return (this.#sseChunkEnd ??= this.sseChunk.subarray(this.sseChunk.indexOf('\n') + 1 + this.#idLine().length));
  }

  /**
   * The event of a single-topic stream: a message has its ID, a change has none, so that it never moves a position
   * back.
   */
  get sseEventWithId(): Buffer {
    const { sseChunk } = this;
    return sseChunk.subarray(sseChunk.indexOf('\n') + 1, -chunkTerminator.length);
  }

  /** The event of a single-topic stream as a chunk of a response. */
  get sseChunk(): Buffer {
    if (this.#sseChunk === undefined) {
      const event = `${this.#idLine()}event: ${this.type}\ndata: ${this.#json}\n\n`;
      this.#sseChunk = Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}${chunkTerminator}`);
    }
    return this.#sseChunk;
  }

  /** ASCII, so its length is also its number of bytes. */
  #idLine(): string {
    return this.type === 'message' ? `id: ${this.messageId}\n` : '';
  }

  /** A WebSocket frame: the message object with its `type`. */
  get frame(): Buffer {
    return (this.#frame ??= textFrame(`{"type":"${this.type}",${this.#json.slice(1)}`));
  }
}

/** Returns the only frame of a text of at least 126 bytes. A server does not mask it (RFC 6455 §5.2). */
function textFrame(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const isShort = bytes < 65_536;
  const frame = Buffer.allocUnsafe((isShort ? 4 : 10) + bytes);
  frame[0] = 0x81;
  frame[1] = isShort ? 126 : 127;
  if (isShort) frame.writeUInt16BE(bytes, 2);
  else frame.writeBigUInt64BE(BigInt(bytes), 2);
  frame.write(text, isShort ? 4 : 10);
  return frame;
}
