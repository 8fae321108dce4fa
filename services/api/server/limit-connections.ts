import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { trustedProxies } from '@tocsin/shared/platform/trusted-proxies.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { budgetAddress, plainAddress } from '../http/client-address.ts';

/** The part of the process's descriptors that connections may use by default; engines and files need the rest. */
const descriptorShare = 0.8;
const warnedEveryMs = 60_000;

type Limits = Pick<Config, 'MAX_CONNECTIONS' | 'MAX_CONNECTIONS_PER_ADDRESS' | 'TRUST_PROXY' | 'RATE_LIMITS'>;

/**
 * Limits the open connections of the server, in total and per address, and closes further ones unanswered. The limit
 * per address is off if TRUST_PROXY is set, because all connections then come from the proxy. Counts connections in the
 * metrics.
 */
export function limitConnections(
  server: Server,
  { config, metrics, log }: { readonly config: Limits; readonly metrics: Registry; readonly log: Logger },
): void {
  const refused = new Counter({
    name: 'tocsin_refused_connections_total',
    help: 'Connections that this node closed because too many were open, in total or from one address',
    labelNames: ['limit'],
    registers: [metrics],
  });
  let warnedAt = -Infinity;
  const refuse = (limit: 'total' | 'address', address: string | undefined) => {
    refused.inc({ limit });
    const now = performance.now();
    if (now - warnedAt < warnedEveryMs) return;
    warnedAt = now;
    const variable = limit === 'total' ? 'MAX_CONNECTIONS' : 'MAX_CONNECTIONS_PER_ADDRESS';
    log.warn({ address, variable }, 'refused a connection because too many are open; logged once per minute');
  };
  server.maxConnections = config.MAX_CONNECTIONS ?? connectionsByDescriptors();
  server.on('drop', (dropped) => refuse('total', dropped?.remoteAddress));
  new Gauge({
    name: 'tocsin_open_connections',
    help: 'Open connections of this node, including idle ones',
    registers: [metrics],
    collect() {
      return new Promise<void>((resolve) =>
        server.getConnections((_, count) => {
          this.set(count);
          resolve();
        }),
      );
    },
  });
  const perAddress = config.MAX_CONNECTIONS_PER_ADDRESS;
  if (perAddress > 0 && config.RATE_LIMITS && trustedProxies(config.TRUST_PROXY) === null)
    limitPerAddress(server, perAddress, (address) => refuse('address', address));
}

function limitPerAddress(server: Server, max: number, onRefused: (address: string) => void): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = budgetAddress(plainAddress(socket.remoteAddress ?? ''));
    const count = open.get(address) ?? 0;
    if (count >= max) {
      onRefused(address);
      socket.destroy();
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/** The part of Node's diagnostic report that contains the limits of the process. */
interface DescriptorReport {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
}

/** Unlimited descriptors mean no limit. */
function connectionsByDescriptors(): number {
  const { report } = process as unknown as { report: { excludeNetwork: boolean; getReport(): DescriptorReport } };
  report.excludeNetwork = true; // would resolve the names of peers
  const { userLimits } = report.getReport();
  const limit = Number(userLimits?.open_files?.soft);
  return Number.isFinite(limit) ? Math.max(1, Math.floor(limit * descriptorShare)) : Infinity;
}
