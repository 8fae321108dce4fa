/** How long transactions and idempotent work wait for the election of a primary; other operations wait for 1.5 s. */
export const electionMs = 5_000;

/** Whether no primary was found although members of the set respond. The driver gives such errors no label. */
export function isDuringElection(error: unknown): boolean {
  const { servers } = (error as { reason?: { servers?: unknown } }).reason ?? {};
  if (!(servers instanceof Map)) return false;
  return [...(servers as Map<string, { type: string }>).values()].some(({ type }) => type.startsWith('RS'));
}

/** Repeats idempotent work while a primary is elected. */
export async function throughElection<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + electionMs; ;) {
    try {
      return await work();
    } catch (error) {
      if (!isDuringElection(error) || performance.now() > deadline) throw error; // the driver has waited
    }
  }
}
