import { pino, stdSerializers, type DestinationStream, type Logger as PinoLogger } from 'pino';

/** Writes structured log lines. Never log secrets or message text. */
export type Logger = PinoLogger;

/**
 * Opens the logger of a service. `level` is a pino level or `silent`. `destination` defaults to standard output.
 * `fields` is called for each line and its result is added.
 */
export function openLogger(
  service: string,
  level: string,
  destination?: DestinationStream,
  fields?: () => object,
): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    ...(fields === undefined ? {} : { mixin: fields }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Serializes name, message and stack of an error. Its other fields may contain message text or a token. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = stdSerializers.err(error);
  const { code } = error as { code?: unknown };
  return { type, message, stack, ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}) };
}
