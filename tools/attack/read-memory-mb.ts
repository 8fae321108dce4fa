import { send } from './target.ts';

/** Returns the resident memory that `/metrics` shows; null if the server does not show it to this client. */
export async function readMemoryMb(url: URL): Promise<number | null> {
  const { status, text } = await send({ url }, { path: '/metrics' });
  const bytes = /^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1];
  return status !== 200 || bytes === undefined ? null : Number(bytes) / 1e6;
}
