import type { Connection, JsonOptions } from './connection.ts';
import type { Consumer } from './schemas.ts';
import { TocsinError } from './tocsin-error.ts';

/** The path of a consumer. */
export const consumerPath = (topic: string, name: string): string =>
  `/api/topics/${encodeURIComponent(topic)}/consumers/${encodeURIComponent(name)}`;

type SendOptions = Pick<JsonOptions, 'signal' | 'forMs' | 'headers'>;

/** The offset that the server stores for a consumer; null if the consumer does not exist. */
export async function findOffset(connection: Connection, path: string, options: SendOptions): Promise<number | null> {
  try {
    return (await connection.json<Consumer>('GET', path, options)).offset;
  } catch (error) {
    if (error instanceof TocsinError && error.message === 'Consumer not found') return null;
    throw error;
  }
}

/** Stores the next offset to read; creates the consumer if necessary. */
export async function storeOffset(
  connection: Connection,
  path: string,
  { offset, ...options }: SendOptions & { readonly offset: number },
): Promise<void> {
  await connection.json<Consumer>('PUT', path, { ...options, body: { offset } });
}
