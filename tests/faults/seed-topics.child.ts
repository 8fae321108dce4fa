import { newApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { apiKeys, topicTokens } from '@tocsin/shared/collections/credentials.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { adoptLog } from '@tocsin/shared/installation/adopt-log.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type New } from '@tocsin/shared/ports/documents.ts';
import { newId, newMessage, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { applyRecords, skipToLogEnd } from '../../tools/bench/apply-records.ts';

// Stores public topics `many-0`, `many-1`, …, each with a message, of the account in the first argument and of others.
// Topic n has the token `tk_many-n` and an API key `toc_many-n` of its owner. The environment configures the stores.

const [firstOwnerId, count] = [process.argv[2]!, Number(process.argv[3])];
const topicsPerOwner = 10_000;
const batchSize = 200;
const dayMs = 86_400_000;

const config = loadConfig(process.env, '/nonexistent');
const log = openLogger('seed', 'silent');
const engine = await openEngine(config, { clock: systemClock, log });
const beganAt = Date.now() - dayMs;
const nextOffsets = Array.from({ length: engine.eventLog.partitions }, () => 0);
let ownerId = firstOwnerId;

function recordOf(topic: New<Topic>) {
  const offset = nextOffsets[topic.partition]!;
  nextOffsets[topic.partition] = offset + 1;
  const timestamp = beganAt + offset;
  const message = newMessage(topic.id, { timestamp, expiresAt: Date.now() + 30 * dayMs });
  return { partition: topic.partition, offset, record: { type: 'message' as const, timestamp, message } };
}

function credentialsOf(topic: New<Topic>, n: number) {
  const common = { name: 'seeded', createdAt: beganAt, expiresAt: null };
  const [key, token] = [`toc_many-${n}`, `tk_many-${n}`];
  return [
    write.insert(
      apiKeys,
      newApiKey(key, {
        ...common,
        id: newId(),
        userId: topic.ownerId,
        description: '',
        secretHash: hashSecret(key),
        scopes: ['subscribe'],
      }),
    ),
    write.insert(topicTokens, {
      ...common,
      id: newId(),
      topicId: topic.id,
      createdBy: topic.ownerId,
      secretHash: hashSecret(token),
      permissions: ['read'],
      lastUsedAt: null,
    }),
  ];
}

for (let at = 0; at < count; at += batchSize) {
  if (at > 0 && at % topicsPerOwner === 0) ownerId = (await engine.documents.insert(users, newUser())).id;
  const batch = Array.from({ length: Math.min(batchSize, count - at) }, (_, index) => at + index).map((n) => ({
    n,
    topic: newTopic(ownerId, {
      name: `many-${n}`,
      partition: n % nextOffsets.length,
      createdAt: beganAt + n,
      lastActivityAt: beganAt + n,
      isListed: n % 2 === 0,
      isDiscoverable: n % 2 === 0,
      description: 'seeded',
    }),
  }));
  await engine.documents.commit(
    batch.flatMap(({ n, topic }) => [write.insert(topics, topic), ...credentialsOf(topic, n)]),
  );
  await applyRecords(
    engine,
    batch.map(({ topic }) => recordOf(topic)),
  );
}
for (const [partition, next] of nextOffsets.entries())
  if (next > 0) await engine.messages.moveWatermark(partition, next - 1);
await engine.close();
// Kafka contains none of the messages, so its log continues after them.
if (config.cluster !== undefined) await adoptLog(config, { log });
else await skipToLogEnd(await openEngine(config, { clock: systemClock, log }), count);
process.exit(0);
