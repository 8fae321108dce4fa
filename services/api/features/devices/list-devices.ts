import { findOwnDevices } from '@tocsin/shared/operations/push/find-own-devices.ts';
import { deviceSchema, toDeviceJson } from '@tocsin/shared/wire/device.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** `GET /api/devices/my`: newest first. */
export function listDevices(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listDevices',
    method: 'GET',
    path: '/api/devices/my',
    summary: "The caller's devices",
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: z.array(deviceSchema), description: 'The devices, newest first' },
    async handle(context) {
      const found = await findOwnDevices(deps.engine.documents, context.account().userId);
      return { status: 200, body: found.map(toDeviceJson) };
    },
  });
}
