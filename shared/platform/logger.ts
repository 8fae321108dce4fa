import { pino, stdSerializers, type DestinationStream, type Logger as PinoLogger } from 'pino';

/** Structured log lines on standard output. Secrets and message text never go into one. */
export type Logger = PinoLogger;

/**
 * A logger of the named service; `level` is one of pino's, or `silent`. `destination` is standard output unless a test wants the
 * lines; `fields` are asked for with each line, which has them beside its own.
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

/** What a line says of an error: its kind, words and place. Its other fields may hold what was to be stored, a text or a token. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = stdSerializers.err(error);
  const { code } = error as { code?: unknown };
  return { type, message, stack, ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}) };
}
