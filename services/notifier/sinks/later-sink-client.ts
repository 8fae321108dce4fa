import type { SinkClient, SinkClientOptions } from './sink-client.ts';

/** A client that loads its HTTP library at the first request: most installations have no sink. */
export function laterSinkClient(options: SinkClientOptions): SinkClient {
  let opened: Promise<SinkClient> | undefined;
  const open = () => (opened ??= import('./sink-client.ts').then(({ openSinkClient }) => openSinkClient(options)));
  return {
    post: async (request) => (await open()).post(request),
    close: async () => (await opened)?.close(),
  };
}
