import type { Connection } from 'mongoose';
import { mapUnavailable } from './mongo-connection.ts';

/** Returns the time of the MongoDB primary in milliseconds since the epoch. */
export function mongoTime(connection: Connection): Promise<number> {
  return mapUnavailable(async () => ((await connection.db!.command({ hello: 1 }))['localTime'] as Date).getTime());
}
