import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import bcrypt from 'bcrypt';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newMessage, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { enginesUnderTest, newTestPlace, openTestEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import { Client } from '../support/stack.ts';

const messageCount = 50_000;
const text = 'x'.repeat(1_000);
const password = 'correct horse battery';
const bytesPerMb = 1024 * 1024;
/** Half the size of the export. */
const mbMax = 35;

/**
 * The server collects its garbage all the time, so that the measured memory is what the export retains. V8 alone
 * collects late: with this heap, garbage sometimes takes 60 MB.
 */
const nodeOptions =
  '--max-semi-space-size=4 --max-old-space-size=96 --expose-gc --import=data:text/javascript,setInterval(gc,200).unref()';

let place: TestPlace;
let server: ServerProcess;
let token: string;
let topicName: string;

/** Stores messages in the form that the log and the fan-out leave, in batches. */
async function storeMessages(engine: Engine, topicId: string): Promise<void> {
  const batchSize = 2_000;
  for (let stored = 0; stored < messageCount; stored += batchSize) {
    const records = Array.from({ length: batchSize }, (_, place): PlacedRecord => {
      const message = newMessage(topicId, { message: text });
      return {
        partition: 0,
        offset: stored + place,
        record: { type: 'message', timestamp: message.timestamp, message },
      };
    });
    if (engine.kind === 'cluster') await engine.messages.apply(records);
    else await Promise.all(records.map(({ partition, record }) => engine.eventLog.append(partition, record, 't')));
  }
}

beforeAll(async () => {
  place = newTestPlace(enginesUnderTest());
  const engine = await openTestEngine(place);
  const user = await engine.documents.insert(users, newUser({ passwordHash: await bcrypt.hash(password, 4) }));
  const topic = await engine.documents.insert(topics, newTopic(user.id));
  topicName = topic.name;
  await storeMessages(engine, topic.id);
  await engine.close();
  const env = { ...place.env, LOG_LEVEL: 'info', NODE_OPTIONS: nodeOptions };
  server = new ServerProcess({
    name: 'api',
    args: ['services/api/main.ts'],
    env,
    logFile: join(place.env['DATA_DIR']!, 'api.log'),
  });
  await server.start();
  const login = await new Client(undefined, [server.url]).call('POST', '/auth/login', {
    json: { email: user.email, password },
  });
  token = login.body.access_token as string;
}, 300_000);
afterAll(async () => {
  await server?.stop();
  await place?.remove();
});

/** Without mapped files: their pages belong to the system's cache. */
const memoryMb = (): number =>
  Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;

/**
 * With `node:http`: the acceptance `fetch` checks responses against the document, which takes longer than the download.
 */
function open(path: string): Promise<IncomingMessage> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    get(server.url + path, { agent: false, headers: { Authorization: `Bearer ${token}` } }, resolve).on(
      'error',
      reject,
    );
  });
}

interface Download {
  readonly bytes: number;
  readonly messages: number;
  /** The server's peak memory during the download, in MB. */
  readonly peakMb: number;
}

/** Downloads the export, pausing for `pauseMs` after each MB. */
async function download(pauseMs: number): Promise<Download> {
  const response = await open('/api/users/me/data');
  let [bytes, messages, peakMb, nextPause, tail] = [0, 0, memoryMb(), bytesPerMb, ''];
  for await (const chunk of response.setEncoding('latin1')) {
    const part = tail + (chunk as string);
    messages += part.split('"topic_id":').length - tail.split('"topic_id":').length;
    tail = part.slice(-11);
    bytes += (chunk as string).length;
    peakMb = Math.max(peakMb, memoryMb());
    if (bytes < nextPause) continue;
    nextPause += bytesPerMb;
    await pause(pauseMs);
  }
  return { bytes, messages, peakMb };
}

/** Reads all pages once to fill the store's cache, so that later growth is due to the export. */
async function readHistory(): Promise<void> {
  for (let since = 'all'; ;) {
    const page = JSON.parse(await textOf(await open(`/${topicName}/json?limit=100&since=${since}`))) as {
      messages: { id: string }[];
    };
    if (page.messages.length === 0) return;
    since = page.messages.at(-1)!.id;
  }
}

test('exports fifty thousand messages in little memory, to fast and slow clients', async () => {
  await readHistory();
  for (const pauseMs of [0, 20]) {
    const before = memoryMb();
    const { bytes, messages, peakMb } = await download(pauseMs);
    const report = `${messages} messages, ${Math.round(bytes / bytesPerMb)} MB, memory ${before.toFixed(1)} to ${peakMb.toFixed(1)} MB, a pause of ${pauseMs} ms per MB`;
    process.stderr.write(`export: ${report}\n`);
    expect(messages).toBe(messageCount);
    expect([report, peakMb - before < mbMax]).toEqual([report, true]);
  }
}, 300_000);
