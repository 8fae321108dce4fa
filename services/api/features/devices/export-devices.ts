import { findOwnDevices } from '@tocsin/shared/operations/push/find-own-devices.ts';
import { deviceSchema, toDeviceJson } from '@tocsin/shared/wire/device.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';
import { smallSection } from '../../export/small-section.ts';

/** The account's devices in the form of their list. */
export function exportDevices({ engine: { documents } }: Pick<ApiDeps, 'engine'>): ExportSection {
  return smallSection({ name: 'devices', scopes: ['account:read'], schema: deviceSchema }, async ({ caller }) =>
    (await findOwnDevices(documents, caller.userId)).map(toDeviceJson),
  );
}
