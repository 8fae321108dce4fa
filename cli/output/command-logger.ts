import { openLogger, type Logger } from '@tocsin/shared/platform/logger.ts';

/** Opens the logger of a command. It writes to standard error, because standard output contains only results. */
export const commandLogger = (level: 'warn' | 'error'): Logger => openLogger('cli', level, process.stderr);
