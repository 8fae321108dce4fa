import { installKafka } from './install-kafka.ts';
import { installMongo } from './install-mongo.ts';
import { installRedis } from './install-redis.ts';

/** Installs the missing engines concurrently, so that later starts need no installation. */
export const installEngines = async (report: (line: string) => void): Promise<void> => {
  await Promise.all([installKafka(report), installMongo(report), installRedis(report)]);
};
