import type { Logger } from './logger.ts';

/** How long a shutdown may take before the process ends anyway. */
const shutdownMaxMs = 30_000;

/**
 * Runs something that was started until SIGTERM or SIGINT, then closes it and ends the process: 0 after a clean close, 1
 * otherwise. A second signal ends it at once. An error that nobody caught is logged and ends the process, too: what it
 * left behind is unknown, and everything acknowledged is on disk.
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
    log.fatal({ err: error }, 'an error that nobody caught');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
