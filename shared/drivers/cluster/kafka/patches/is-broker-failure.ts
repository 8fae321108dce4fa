/** kafkajs's errors of a broker that cannot be reached, does not respond, or is not part of the cluster any more. */
const names: ReadonlySet<string> = new Set([
  'KafkaJSBrokerNotFound',
  'KafkaJSConnectionClosedError',
  'KafkaJSConnectionError',
  'KafkaJSLockTimeout',
  'KafkaJSRequestTimeoutError',
]);

/** Whether one broker failed, so that another one may respond. */
export function isBrokerFailure(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (names.has(cause.name)) return true;
  return false;
}
