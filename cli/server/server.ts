import { TocsinClient, TocsinError, type ClientOptions } from '@tocsin/client';

/** A server and the credential of its caller. */
export interface Server {
  readonly url: string;
  /** Absent for anonymous requests. */
  readonly token?: string;
  /** Whether `tocsin login` stored the token. */
  readonly isStored?: boolean;
}

/** The client of a command. It reports retries on standard error. */
export function clientOf({ url, token }: Server, options: Pick<ClientOptions, 'retryForMs'> = {}): TocsinClient {
  const onRetry = ({ message }: TocsinError): void => void process.stderr.write(`${message}; retrying\n`);
  return new TocsinClient({ url, onRetry, ...options, ...(token !== undefined && { token }) });
}

/** Sends a request once and returns the 2xx response. Throws `TocsinError` with the server's `detail` for any other. */
export function ask(server: Server, path: string, init: RequestInit = {}): Promise<Response> {
  return withLoginHint(server, () => clientOf(server).request(path, init));
}

/** Adds to a 401 how to replace a stored credential. */
export async function withLoginHint<T>({ isStored }: Server, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TocsinError) || error.status !== 401 || isStored !== true) throw error;
    throw new TocsinError(`${error.message}: run \`tocsin login\` to replace the stored credential`, error);
  }
}
