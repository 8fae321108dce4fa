import type { Connection } from 'mongoose';
import { reaching } from './mongo-connection.ts';

/** Returns the time of the MongoDB primary in milliseconds since the epoch. */
export function mongoTime(connection: Connection): Promise<number> {
  return reaching(async () => ((await connection.db!.command({ hello: 1 }))['localTime'] as Date).getTime());
}
