import { consolePages } from './features/console/console-pages.ts';
import { getServiceWorker } from './features/console/get-service-worker.ts';
import { getAsset } from './features/console/get-asset.ts';
import { readConsoleFiles } from './features/console/console-files.ts';
import { getDocs } from './features/documents/get-docs.ts';
import type { ApiDeps } from './api-deps.ts';
import type { Route } from './http/route.ts';

/** Pages for browsers. They are not API operations and not in the OpenAPI document. */
export function pages({ config, engine }: Pick<ApiDeps, 'config' | 'engine'>): Route[] {
  const { shell, serviceWorker, docs, assets } = readConsoleFiles({
    config,
    vapidPublicKey: engine.vapidKeys?.publicKey,
  });
  return [...consolePages(shell), getServiceWorker(serviceWorker), getDocs(docs), getAsset(assets)];
}
