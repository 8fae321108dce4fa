import { startApi } from '@tocsin/api/start-api.ts';
import { startFanout } from '@tocsin/fanout/start-fanout.ts';
import { startNotifier } from '@tocsin/notifier/start-notifier.ts';
import { startRetention } from '@tocsin/retention/start-retention.ts';
import { startHealth } from '@tocsin/shared/health.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import { Registry } from 'prom-client';

export interface RunningRoles {
  readonly engine: 'embedded' | 'cluster';
  /** Where the API listens; undefined without that role. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Opens the engine and starts the configured roles in this process. Resolves when all of them run. */
export function startRoles(config: Config, deps: { clock: Clock; log: Log }): Promise<RunningRoles> {
  return withClosers(async (own) => {
    const engine = await openEngine(config, deps);
    own.add(() => engine.close());
    const metrics = new Registry();
    own.add(closing(await startHealth(engine, config, metrics)));
    const { ROLES: roles } = config;
    if (roles.includes('fanout')) own.add(closing(await startFanout({ engine, log: deps.log })));
    const api = roles.includes('api') ? await startApi({ engine, config, ...deps }) : undefined;
    if (api !== undefined) own.add(closing(api));
    const baseUrl = config.BASE_URL ?? api?.url ?? `http://${config.HOST}:${config.PORT}`;
    const work = { engine, config, metrics, ...deps, makeId: idSource(deps.clock), baseUrl, appUrl: config.APP_URL ?? baseUrl };
    if (roles.includes('notifier')) own.add(closing(await startNotifier(work)));
    if (roles.includes('retention')) own.add(closing(await startRetention(work)));
    return { engine: engine.kind, url: api?.url, close: () => own.closeAll() };
  });
}

const closing = (running: { close(): Promise<void> }) => () => running.close();
