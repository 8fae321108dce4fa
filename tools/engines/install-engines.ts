import { installKafka } from './install-kafka.ts';
import { installMongo } from './install-mongo.ts';
import { installRedis } from './install-redis.ts';

/** Installs what is missing of the three engines, side by side, so that a later start takes only its own time. */
export const installEngines = async (report: (line: string) => void): Promise<void> => {
  await Promise.all([installKafka(report), installMongo(report), installRedis(report)]);
};
