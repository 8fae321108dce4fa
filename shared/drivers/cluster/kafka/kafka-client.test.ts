import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { logLevel, type LogEntry } from 'kafkajs';
import { kafkaClient } from './kafka-client.ts';
import { testOptions } from './kafka-event-log.place.ts';

test('a client that is destroyed while it connects gives up, and logs no warning', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const entries: LogEntry[] = [];
  try {
    const { kafka, destroy } = kafkaClient(
      {
        ...testOptions(`127.0.0.1:${(silent.address() as AddressInfo).port}`, 'any'),
        clientLog: (entry) => void entries.push(entry),
      },
      { requestTimeoutMs: 60_000, retries: 600 },
    );
    const connecting = kafka.admin().connect();
    await Promise.race([once(silent, 'connection'), connecting]);
    destroy();
    await expect(connecting).rejects.toThrow();
  } finally {
    silent.close();
  }
  expect(entries.filter(({ level }) => level <= logLevel.WARN)).toEqual([]);
  expect(entries).not.toEqual([]);
});
