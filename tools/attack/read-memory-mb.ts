import { send } from './target.ts';

/** The memory of a server in MB. */
export interface MemoryMb {
  readonly resident: number;
  /** Of objects and buffers, including garbage that is not collected yet. */
  readonly used: number;
}

/** Returns the memory that `/metrics` shows; null if the server does not show it to this client. */
export async function readMemoryMb(url: URL): Promise<MemoryMb | null> {
  const { status, text } = await send({ url }, { path: '/metrics' });
  const [resident, heap, external] = [
    'process_resident_memory_bytes',
    'nodejs_heap_size_used_bytes',
    'nodejs_external_memory_bytes',
  ].map((name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN) / 1e6) as [
    number,
    number,
    number,
  ];
  const used = heap + external;
  return status !== 200 || Number.isNaN(resident + used) ? null : { resident, used };
}
