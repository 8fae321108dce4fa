import { deviceSchema, toDeviceJson } from '@tocsin/shared/wire/device.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadDevice } from './load-device.ts';

/** `GET /api/devices/{device_id}` */
export function getDevice(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'getDevice',
    method: 'GET',
    path: '/api/devices/{device_id}',
    summary: 'Get a device of the caller',
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: deviceSchema, description: 'The device' },
    load: (context) => loadDevice(deps.engine.documents, context),
    handle: async (_context, { loaded }) => ({ status: 200, body: toDeviceJson(loaded) }),
  });
}
