import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { applyRecords, skipToLogEnd } from './apply-records.ts';

/** The program's input, as JSON in its first argument. Its environment configures the store. */
export interface ExpiredLoad {
  readonly topics: readonly { readonly id: string; readonly partition: number }[];
  readonly messages: number;
  /** This many of the oldest messages expired an hour ago. */
  readonly expired: number;
}

/** Limits a transaction: MongoDB runs out of memory with more. Topic counters are written once per batch. */
const batchSize = 4_000;
const hourMs = 3_600_000;
const lifetimeMs = 90 * 24 * hourMs;

const load = JSON.parse(process.argv[2]!) as ExpiredLoad;
const config = loadConfig(process.env, '/nonexistent');
const now = Date.now();
/** Applies with the time of two hours ago, because the store does not accept expired messages. */
const past = () => now - 2 * hourMs;
const open = () => openEngine(config, { clock: past, log: openLogger('bench', 'silent') });

let idTime = 0;
const makeId = idSource(() => idTime);
const text =
  'disk full on server 12, backup did not finish, 93 % used and rising since the nightly job began; the next one is due in four hours and needs eleven gigabytes, so somebody has to look before then '.padEnd(
    200,
    '.',
  );

const engine = await open();
const nextOffset = new Map<number, number>();
let placed: PlacedRecord[] = [];
for (let at = 0; at < load.messages; at += 1) {
  const topic = load.topics[at % load.topics.length]!;
  const timestamp = past() - (load.messages - at);
  idTime = timestamp;
  const expiresAt = at < load.expired ? now - hourMs - (load.expired - at) : timestamp + lifetimeMs;
  const offset = nextOffset.get(topic.partition) ?? 0;
  nextOffset.set(topic.partition, offset + 1);
  placed.push({
    partition: topic.partition,
    offset,
    record: {
      type: 'message',
      timestamp,
      message: newMessage(topic.id, { id: makeId(), message: text, timestamp, expiresAt }),
    },
  });
  if (placed.length < batchSize && at + 1 < load.messages) continue;
  await applyRecords(engine, placed);
  placed = [];
}
await engine.close();
// Reopened, the engine knows the end of its log.
if (config.cluster === undefined) await skipToLogEnd(await open(), load.messages);
process.stdout.write(`${JSON.stringify({ textBytes: Buffer.byteLength(text) })}\n`);
process.exit();
