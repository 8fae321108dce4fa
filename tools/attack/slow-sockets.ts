import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { healthMsMax, whileHealthy, type Attack } from './target.ts';

/**
 * Headers must arrive within 15 s and bodies within 60 s, which the server checks every 5 s; a closed socket is freed
 * within a second.
 */
const closedWithinMs = { headers: 25_000, bodies: 75_000 } as const;

/** What a slow client sends before it stops. */
const beginnings = {
  nothing: '',
  'half a header': 'GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  'a refused upgrade':
    'GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
};

/** Only in the long form, because a body may take a minute. */
const halfBody = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"email":';

/**
 * Opens connections that send nothing, half a header, half a body or a refused upgrade, and never close. The server
 * must free them all.
 */
export const slowSockets: Attack = {
  name: 'slow sockets',
  async run(target) {
    const perKind = target.isQuick ? 60 : 300;
    const withinMs = target.isQuick ? closedWithinMs.headers : closedWithinMs.bodies;
    const sockets: Socket[] = [];
    const { result, healthMs } = await whileHealthy(target, async () => {
      const began = performance.now();
      for (const text of [...Object.values(beginnings), ...(target.isQuick ? [] : [halfBody])])
        for (let count = 0; count < perKind; count += 1) sockets.push(await open(target.url, text));
      const isOpen = () => sockets.filter(({ closed }) => !closed).length;
      while (isOpen() > 0 && performance.now() - began < withinMs) {
        await pause(200);
        // After the server's FIN, only a failing write shows whether it freed the connection.
        for (const socket of sockets) if (socket.readableEnded && !socket.closed) socket.write('x');
      }
      return { left: isOpen(), seconds: Math.round((performance.now() - began) / 100) / 10 };
    });
    for (const socket of sockets) socket.destroy();
    const faults = [
      ...(result.left === 0 ? [] : [`${result.left} of ${sockets.length} connections were not closed`]),
      ...(healthMs <= healthMsMax(target) ? [] : [`/health/live took ${healthMs} ms`]),
    ];
    return { figures: { connections: sockets.length, secondsUntilClosed: result.seconds, healthMs }, faults };
  },
};

/** The client does not end its side, so that only the server can free the connection. */
async function open({ hostname, port }: URL, text: string): Promise<Socket> {
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.resume();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  if (text !== '') socket.write(text);
  return socket;
}
