import { startApi } from '@tocsin/api/start-api.ts';
import { startFanout } from '@tocsin/fanout/start-fanout.ts';
import { startNotifier } from '@tocsin/notifier/start-notifier.ts';
import { startRetention } from '@tocsin/retention/start-retention.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { closeConcurrently, withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { RunningService, ServiceDeps } from '@tocsin/shared/runtime/run-service.ts';

/**
 * Starts the configured roles in this process. Resolves when all of them run; `url` is set with the API role. `close`
 * stops the API first, so that the other roles process its last messages, and then the others concurrently.
 */
export function startRoles(deps: ServiceDeps): Promise<RunningService> {
  const { config } = deps;
  return withClosers(async (own) => {
    const others: RunningService[] = [];
    own.add(() => closeConcurrently(others));
    const starting = async (running: Promise<RunningService>): Promise<void> => {
      others.push(await running);
    };
    if (config.ROLES.includes('fanout')) await starting(startFanout(deps));
    const api = config.ROLES.includes('api') ? await startApi(deps) : undefined;
    own.add(() => api?.close());
    if (config.ROLES.includes('notifier')) {
      const baseUrl = config.BASE_URL ?? api?.url ?? `http://${config.HOST}:${config.PORT}`;
      await starting(
        startNotifier({
          ...deps,
          makeId: idSource(deps.clock),
          baseUrl,
          appUrl: config.APP_URL ?? baseUrl,
          isBesideApi: api !== undefined,
        }),
      );
    }
    if (config.ROLES.includes('retention')) await starting(startRetention(deps));
    return { ...(api === undefined ? {} : { url: api.url }), close: () => own.closeAll() };
  });
}
