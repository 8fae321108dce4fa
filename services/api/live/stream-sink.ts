import type { Delivery } from './delivery.ts';

/** Why a stream ends from our side. WebSocket clients are told by the close code; SSE clients learn it when they reconnect. */
export type EndReason = 'credential-ended' | 'access-lost' | 'topic-deleted' | 'too-slow' | 'restart';

/** The client's end of a stream: SSE or WebSocket. Writing to one that is closed does nothing. */
export interface StreamSink {
  /** `idLine` is the line that says where the stream stands, as an event stream's `id: …` with its end. Not kept. */
  ready(data: Readonly<Record<string, unknown>>, idLine: Buffer): void;
  /** `idLine` stands in for the message's own id (multi-topic streams). Not kept. */
  deliver(delivery: Delivery, idLine: Buffer | undefined): void;
  ping(): void;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Resolves when what was written is taken, or the stream is closed. */
  drained(): Promise<void>;
  end(reason: EndReason): void;
  /** Closes it at once, whatever is under way. */
  cutOff(): void;
  readonly isClosed: boolean;
  /** Calls the listener once the client is gone; at once when it has gone already. */
  onClose(listener: () => void): void;
}
