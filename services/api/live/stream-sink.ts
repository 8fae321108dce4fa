import type { Delivery } from './delivery.ts';

/** Why the server ends a stream. WebSocket clients get a close code; SSE clients get the error when they reconnect. */
export type EndReason = 'credential-ended' | 'access-lost' | 'topic-deleted' | 'too-slow' | 'restart';

/** The client's end of a stream: SSE or WebSocket. Writing after the close has no effect. */
export interface StreamSink {
  /** `id` is the position of the stream. */
  ready(data: Readonly<Record<string, unknown>>, id: string): void;
  /** `id` is the position of a stream of several topics; undefined means the ID of the message. */
  deliver(delivery: Delivery, id: string | undefined): void;
  /** Tells a filtered reader how far the stream has come. */
  position(id: string): void;
  ping(): void;
  /** Bytes that the client has not received yet. */
  readonly bufferedBytes: number;
  /** Resolves when the written data was received or the stream closed. */
  drained(): Promise<void>;
  end(reason: EndReason): void;
  /** Closes it immediately. */
  cutOff(): void;
  readonly isClosed: boolean;
  /** Calls the listener when the client disconnects, immediately if it already has. */
  onClose(listener: () => void): void;
}

/** Ends the stream with the reason, and closes it after this time if the client has not received what is buffered. */
export function endWithin(sink: Pick<StreamSink, 'end' | 'cutOff' | 'onClose'>, reason: EndReason, ms: number): void {
  sink.end(reason);
  const timer = setTimeout(() => sink.cutOff(), ms).unref();
  sink.onClose(() => clearTimeout(timer));
}
