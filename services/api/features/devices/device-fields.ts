import { platforms } from '@tocsin/shared/domain/push/device.ts';
import { z } from 'zod';
import { textField } from '../../http/fields.ts';

/** Fields of a device in requests. */
export const deviceFields = {
  pushToken: textField({ min: 1, max: 4_096 }),
  platform: z.enum(platforms),
  deviceId: textField({ min: 1, max: 128 }),
  deviceName: textField({ min: 0, max: 100 }),
  appVersion: textField({ min: 0, max: 50 }),
};
