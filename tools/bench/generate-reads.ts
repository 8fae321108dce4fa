import { driveConnections, type RequestLoad, type RequestResult } from './drive-connections.ts';
import { getRequest } from './http-connection.ts';

/** What is asked of the generator, as JSON in its first argument. */
export interface ReadLoad extends RequestLoad {
  readonly paths: readonly string[];
  /** The access token of the account that reads. */
  readonly token: string;
}

/** What it prints. */
export type ReadResult = RequestResult;

const load = JSON.parse(process.argv[2]!) as ReadLoad;
const requests = load.paths.map((path) => getRequest(path, load.token));
process.stdout.write(`${JSON.stringify(await driveConnections(load, requests))}\n`);
