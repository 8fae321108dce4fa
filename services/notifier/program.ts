import { idSource } from '@tocsin/shared/platform/ids.ts';
import { runService } from '@tocsin/shared/runtime/run-service.ts';
import { startNotifier } from './start-notifier.ts';

await runService('notifier', (deps) => {
  const baseUrl = deps.config.BASE_URL ?? `http://${deps.config.HOST}:${deps.config.PORT}`;
  return startNotifier({ ...deps, makeId: idSource(deps.clock), baseUrl, appUrl: deps.config.APP_URL ?? baseUrl });
});
