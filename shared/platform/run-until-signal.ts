import type { Logger } from './logger.ts';

/** The time limit of a shutdown. After it, the process exits. */
const shutdownMaxMs = 30_000;

/**
 * Runs a service until SIGTERM or SIGINT, then closes it and exits: with 0 after a clean close, with 1 otherwise. A
 * second signal exits immediately. An uncaught error is logged and ends the process, because the state is unknown
 * afterwards; acknowledged data is on disk.
 */
export function runUntilSignal(running: { close(): Promise<void> }, log: Logger): void {
  let isClosing = false;
  const shutDown = (signal: string) => {
    if (isClosing) process.exit(1);
    isClosing = true;
    log.info({ signal }, 'shutting down');
    setTimeout(() => {
      log.error('the shutdown took too long');
      process.exit(1);
    }, shutdownMaxMs).unref();
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', shutDown);
  process.on('SIGINT', shutDown);
  const die = (error: unknown) => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
