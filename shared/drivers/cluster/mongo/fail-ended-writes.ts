import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { libraryFile, patchOnce, prototypeWith } from '../../../platform/patch-library.ts';

/** The part of the driver's Connection that the patch uses. */
interface DriverConnection {
  readonly socket: Socket;
  readonly closed: boolean;
  cleanup(error: Error): void;
}

/**
 * Fails commands that the MongoDB driver 7 writes to a connection which the server has ended.
 *
 * A connection stays in the pool for a moment after its socket has ended. A command that is written in this moment
 * waits for the `drain` event of the socket. It never comes, and the driver's timeouts do not apply, so the command
 * hangs forever. Or it fails with Node's EPIPE, which the driver does not retry. The patch reports the error of the
 * closed connection to such commands. The driver knows this error and retries the command (decision 0060).
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals.
 */
export function failEndedWrites(): boolean {
  const connection = driverConnection();
  if (connection === undefined) return false;
  patchOnce(connection, () => {
    const cleanup = connection.cleanup;
    connection.cleanup = function (this: DriverConnection, error): void {
      if (this.closed) return;
      cleanup.call(this, error);
      // The driver has a permanent listener, so this never throws.
      this.socket.emit('error', error);
    };
  });
  return true;
}

/** Returns the prototype of the driver's Connection; undefined if this version has other internals. */
function driverConnection(): DriverConnection | undefined {
  const ofMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const file = libraryFile<{ readonly Connection?: { readonly prototype?: DriverConnection } }>(
    ofMongoose,
    'mongodb/lib/cmap/connection',
  );
  return prototypeWith(file?.Connection, ['cleanup']);
}
