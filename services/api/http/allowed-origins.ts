import type { Config } from '@tocsin/shared/platform/load-config.ts';

interface Installation {
  readonly config: Pick<Config, 'CORS_ORIGINS'>;
  readonly baseUrl: string;
  readonly appUrl: string;
}

/**
 * The origins whose scripts may read responses and open WebSockets: those of BASE_URL and APP_URL, and CORS_ORIGINS.
 * `*` means all.
 */
export function allowedOrigins({ config, baseUrl, appUrl }: Installation): ReadonlySet<string> {
  // The origin of an app's own scheme is `null`, which pages in sandboxes send as well.
  const own = [baseUrl, appUrl].map((url) => new URL(url).origin).filter((origin) => origin !== 'null');
  return new Set([...own, ...(config.CORS_ORIGINS ?? [])]);
}

/**
 * Whether a script of this origin may open a WebSocket. CORS does not cover WebSockets: without this check any page
 * could read the public topics of an installation in the network of its visitor. Programs send no Origin.
 */
export function mayConnect(origins: ReadonlySet<string>, origin: string | undefined): boolean {
  return origin === undefined || origins.has('*') || origins.has(origin);
}
