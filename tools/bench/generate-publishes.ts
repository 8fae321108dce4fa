import { driveConnections, type RequestLoad, type RequestResult } from './drive-connections.ts';
import { publishRequest } from './http-connection.ts';

/** The generator's input, as JSON in its first argument. */
export interface PublishLoad extends RequestLoad {
  readonly paths: readonly string[];
  readonly textBytes: number;
}

/** The generator's output. */
export type PublishResult = RequestResult;

const load = JSON.parse(process.argv[2]!) as PublishLoad;
const requests = load.paths.map((path) => publishRequest(path, 'x'.repeat(load.textBytes)));
process.stdout.write(`${JSON.stringify(await driveConnections(load, requests))}\n`);
