import type { ApiDeps } from './api-deps.ts';
import type { Route } from './http/route.ts';

/** All operations of the interface, in its order. */
export function routes(_deps: ApiDeps): Route[] {
  return [];
}
