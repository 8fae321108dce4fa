import { pino, type Logger } from 'pino';

/** Structured log lines on standard output. Secrets and message text never go into one. */
export type Log = Logger;

/** A logger of the named service; `level` is one of pino's, or `silent`. */
export function openLog(service: string, level: string): Log {
  return pino({ level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } });
}
