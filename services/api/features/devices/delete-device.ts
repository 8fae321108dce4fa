import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { deviceNotFound, loadDevice } from './load-device.ts';

/** `DELETE /api/devices/{device_id}` */
export function deleteDevice(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'deleteDevice',
    method: 'DELETE',
    path: '/api/devices/{device_id}',
    summary: 'Delete a device, which then gets no more pushes',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: (context) => loadDevice(deps.engine.documents, context),
    async handle(_context, { loaded }) {
      if (!(await deps.engine.documents.remove(devices, loaded.id))) throw deviceNotFound();
      return { status: 204 };
    },
  });
}
