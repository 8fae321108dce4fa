import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The state of an open connection in `systemEnds`. */
export const established = '01';

/** Both ends of the connection in Linux with their queued bytes: sent but not received, or received but not read. */
export function systemEnds({ localPort, remotePort }: Socket): { state: string; bytes: number }[] {
  const ports = [localPort!, remotePort!].map((port) => port.toString(16).toUpperCase().padStart(4, '0'));
  const isOfConnection = (address: string | undefined) => ports.includes(address?.split(':')[1] ?? '');
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote]) => isOfConnection(local) && isOfConnection(remote));
  // The file is no snapshot: while connections open and close, it can contain a socket twice.
  return [...new Map(lines.map((line) => [line[1], line])).values()].map(([, , , state, queues]) => ({
    state: state!,
    bytes: queues!.split(':').reduce((sum, queue) => sum + Number.parseInt(queue, 16), 0),
  }));
}
