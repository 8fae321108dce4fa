import { startApi } from '@tocsin/api/start-api.ts';
import { startFanout } from '@tocsin/fanout/start-fanout.ts';
import { startMailWorker } from '@tocsin/notifier/send-mail.ts';
import type { Engine } from '@tocsin/shared/engine.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';

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
    const { ROLES: roles } = config;
    if (roles.includes('fanout')) own.add(closing(await startFanout({ engine, log: deps.log })));
    const api = roles.includes('api') ? await startApi({ engine, config, ...deps }) : undefined;
    if (api !== undefined) own.add(closing(api));
    if (roles.includes('notifier')) own.add(closing(await startMails({ engine, config, ...deps, apiUrl: api?.url })));
    return { engine: engine.kind, url: api?.url, close: () => own.closeAll() };
  });
}

/** Links in mails lead to BASE_URL, or to where this process listens. */
function startMails(options: { engine: Engine; config: Config; clock: Clock; log: Log; apiUrl: string | undefined }): Promise<{ close(): Promise<void> }> {
  const { engine: { jobQueue, documents }, config, clock, log } = options;
  const baseUrl = config.BASE_URL ?? options.apiUrl ?? `http://${config.HOST}:${config.PORT}`;
  return startMailWorker({ jobQueue, documents, config, clock, log, makeId: idSource(clock), baseUrl, appUrl: config.APP_URL ?? baseUrl });
}

const closing = (running: { close(): Promise<void> }) => () => running.close();
