import { startApi } from '@tocsin/api/start-api.ts';
import { startFanout } from '@tocsin/fanout/start-fanout.ts';
import { startNotifier } from '@tocsin/notifier/start-notifier.ts';
import { startRetention } from '@tocsin/retention/start-retention.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { RunningService, ServiceDeps } from '@tocsin/shared/run-service.ts';

/** Starts the configured roles in this process. Resolves when all of them run; `url` is the API's, with that role. */
export function startRoles(deps: ServiceDeps): Promise<RunningService> {
  const { config } = deps;
  return withClosers(async (own) => {
    const starting = async <T extends RunningService>(running: Promise<T>): Promise<T> => {
      const started = await running;
      own.add(() => started.close());
      return started;
    };
    if (config.ROLES.includes('fanout')) await starting(startFanout(deps));
    const api = config.ROLES.includes('api') ? await starting(startApi(deps)) : undefined;
    if (config.ROLES.includes('notifier')) {
      const baseUrl = config.BASE_URL ?? api?.url ?? `http://${config.HOST}:${config.PORT}`;
      await starting(startNotifier({ ...deps, makeId: idSource(deps.clock), baseUrl, appUrl: config.APP_URL ?? baseUrl }));
    }
    if (config.ROLES.includes('retention')) await starting(startRetention(deps));
    return { ...(api === undefined ? {} : { url: api.url }), close: () => own.closeAll() };
  });
}
