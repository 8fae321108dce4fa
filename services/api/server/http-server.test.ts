import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { createHttpServer, finish, listen, stopListening } from './http-server.ts';
import { OpenRequests } from './open-requests.ts';

test('a server that stops listening answers the connections that it has not accepted yet', async () => {
  const server = createHttpServer();
  server.on('request', (_, response) => response.end('taken'));
  const { hostname, port } = new URL(await listen(server, { HOST: '127.0.0.1', PORT: 0 }));
  const answers = Array.from({ length: 20 }, () => {
    const socket = connect(Number(port), hostname);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return text(socket).catch(String);
  });
  await new Promise(process.nextTick); // the sockets connect, and the server has had no turn to accept them
  await stopListening(server);
  await finish(server, new OpenRequests());
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\ntaken$/s);
});
