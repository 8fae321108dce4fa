import { driveConnections, type RequestLoad, type RequestResult } from './drive-connections.ts';
import { getRequest } from './http-connection.ts';

/** The generator's input, as JSON in its first argument. */
export interface ReadLoad extends RequestLoad {
  readonly paths: readonly string[];
  /** Access token of the reading account. */
  readonly token: string;
}

/** The generator's output. */
export type ReadResult = RequestResult;

const load = JSON.parse(process.argv[2]!) as ReadLoad;
const requests = load.paths.map((path) => getRequest(path, load.token));
process.stdout.write(`${JSON.stringify(await driveConnections(load, requests))}\n`);
