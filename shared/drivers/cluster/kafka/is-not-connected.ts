/** The system's errors of a connection that was never established. */
const codes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Whether kafkajs failed to connect, so that it sent nothing. */
export function isNotConnected(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (codes.has((cause as { code?: unknown }).code)) return true;
  return false;
}
