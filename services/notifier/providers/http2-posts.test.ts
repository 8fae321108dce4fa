import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { http2Posts, type Http2Posts, type PostAnswer } from './http2-posts.ts';

const refusal = JSON.stringify({ reason: 'Unregistered', timestamp: 1 });

const patientMs = 60_000;
const overTime = 'its time limit passes';
/** Ways in which a response ends early. */
const cuts: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
  'the connection is lost': (stream) => stream.session!.socket.destroy(),
  'the server ends the session': (stream) => stream.session!.destroy(),
  'the server sends GOAWAY and ends the session': (stream) => {
    stream.session!.goaway();
    setImmediate(() => stream.session!.destroy());
  },
  'the server fails': (stream) => stream.session!.destroy(new Error('failed'), constants.NGHTTP2_INTERNAL_ERROR),
  'the request is reset': (stream) => stream.destroy(new Error('reset')),
  [overTime]: () => undefined,
};

describe('the response to a POST over HTTP/2', () => {
  const serverSessions = new Set<ServerHttp2Session>();
  let server: Http2Server;
  let session: ClientHttp2Session;
  let posts: Http2Posts;
  const post = (path = '/'): Promise<PostAnswer> => posts.post(session, { ':method': 'POST', ':path': path }, '{}');

  beforeEach(async () => {
    server = createServer({ settings: { maxConcurrentStreams: 1 } }).on('session', (one) =>
      serverSessions.add(one.on('error', () => undefined)),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).on('error', () => undefined);
  });
  afterEach(async () => {
    posts.close();
    session.destroy();
    for (const one of serverSessions) one.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test('resolves when it is complete', async () => {
    server.on('stream', (stream) => {
      stream.respond({ ':status': 410, 'retry-after': '5' });
      stream.end(refusal);
    });
    posts = http2Posts(patientMs, () => undefined);
    expect(await post()).toMatchObject({ status: 410, headers: { 'retry-after': '5' }, text: refusal });
  });

  const begun = { 'before its body': '', 'within its body': refusal.slice(0, 10) };
  test.each(Object.keys(cuts).flatMap((name) => Object.entries(begun).map(([where, text]) => ({ name, where, text }))))(
    'rejects if $name $where',
    async ({ name, text }) => {
      let answering: ServerHttp2Stream;
      server.on('stream', (stream) => {
        answering = stream.on('error', () => undefined);
        stream.respond({ ':status': 410 });
        stream.write(text);
      });
      // It is cut off after the client received the start.
      const request = session.request.bind(session);
      session.request = (headers) =>
        request(headers).once(text === '' ? 'response' : 'data', () => cuts[name]!(answering));
      posts = http2Posts(name === overTime ? 100 : patientMs, () => undefined);
      await expect(post()).rejects.toThrow(/without a response|closed with error code/);
    },
  );

  test('that times out retires its session: queued requests still run on it, and then the session closes', async () => {
    server.on('stream', (stream) => stream.on('error', () => undefined));
    await once(session, 'remoteSettings');
    const closed = once(session, 'close');
    let isSilent = false;
    let waiting: Promise<PostAnswer> | undefined;
    posts = http2Posts(100, (one) => {
      isSilent = one === session;
      waiting = post('/waiting');
    });
    await expect(post('/silent')).rejects.toThrow('without a response');
    expect(isSilent).toBe(true);
    // It reached the server, which may not know yet that a slot is free, and does not respond. If unsent, it would be
    // REFUSED_STREAM.
    await expect(waiting).rejects.toThrow(/without a response|ENHANCE_YOUR_CALM/);
    await closed;
  });
});
