import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Collected, nilId, readerOver, type ReadMessage, type ReadOptions, type StreamReader } from './reader.ts';

const reconnectMs = 50;

/** Reads `/{topic}/ws` and reconnects with `since_id`. */
export function readWebSocket(options: ReadOptions): StreamReader {
  const collected = new Collected(options);
  const ends: number[] = [];
  const resumesMs: number[] = [];
  let lastId = options.sinceId ?? nilId;
  let isStopped = false;
  let socket: WebSocket | undefined;
  const done = (async () => {
    while (!isStopped) {
      const url = options.urls[((options.first ?? 0) + collected.connections++) % options.urls.length]!;
      let askedAt: number | undefined = performance.now();
      socket = new WebSocket(`${url.replace('http', 'ws')}/${options.topic}/ws?since_id=${lastId}`, {
        ...(options.headers && { headers: options.headers }),
      });
      socket.on('message', (frame: Buffer) => {
        const message = JSON.parse(frame.toString()) as { type: string } & ReadMessage;
        if (message.type !== 'message') return;
        lastId = message.id;
        if (askedAt !== undefined) resumesMs.push(performance.now() - askedAt);
        askedAt = undefined;
        collected.add(message);
      });
      const code = await closed(socket);
      if (!isStopped) ends.push(code);
      await pause(reconnectMs);
    }
  })();
  const reader = readerOver(collected, {
    name: `websocket ${options.topic}`,
    topics: [options.topic],
    end: async () => {
      isStopped = true;
      socket?.terminate();
      await done;
    },
  });
  return Object.assign(reader, {
    ends,
    resumesMs,
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
    socket: () => (socket as { _socket?: Socket } | undefined)?._socket,
  });
}

function closed(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined); // the following close is handled instead
    socket.once('close', resolve);
  });
}
