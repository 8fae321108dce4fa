import type { Delivery } from './delivery.ts';

/** Why a stream ends from our side. WebSocket clients are told by the close code; SSE clients learn it when they reconnect. */
export type EndReason = 'credential-ended' | 'access-lost' | 'topic-deleted' | 'too-slow' | 'restart';

/** The client's end of a stream: SSE or WebSocket. Writing to one that is closed does nothing. */
export interface StreamSink {
  ready(data: Readonly<Record<string, unknown>>): void;
  /** `position` replaces the message's id as the event's id (multi-topic streams). */
  deliver(delivery: Delivery, position: string | undefined): void;
  ping(): void;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Resolves when what was written is taken, or the stream is closed. */
  drained(): Promise<void>;
  end(reason: EndReason): void;
  readonly isClosed: boolean;
  onClose(listener: () => void): void;
}
