import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Collected, readerOver, type ReadMessage, type ReadOptions, type Reader } from './reader.ts';

const nilId = '00000000-0000-0000-0000-000000000000';
const reconnectMs = 50;

/** Reads `/{topic}/ws` from the topic's beginning, and reconnects with `since_id`. */
export function readWebSocket(options: ReadOptions): Reader {
  const collected = new Collected(options);
  let lastId = nilId;
  let isStopped = false;
  let socket: WebSocket | undefined;
  const done = (async () => {
    while (!isStopped) {
      const url = options.urls[((options.first ?? 0) + collected.connections++) % options.urls.length]!;
      socket = new WebSocket(`${url.replace('http', 'ws')}/${options.topic}/ws?since_id=${lastId}`);
      socket.on('message', (frame: Buffer) => {
        const message = JSON.parse(frame.toString()) as { type: string } & ReadMessage;
        if (message.type !== 'message') return;
        lastId = message.id;
        collected.add(message);
      });
      await closed(socket);
      await pause(reconnectMs);
    }
  })();
  return readerOver(collected, {
    name: `websocket ${options.topic}`,
    topics: [options.topic],
    end: async () => {
      isStopped = true;
      socket?.terminate();
      await done;
    },
  });
}

function closed(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined); // the close that follows is what counts
    socket.once('close', () => resolve());
  });
}
