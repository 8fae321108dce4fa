import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { webPushHosts } from '@tocsin/shared/domain/push/web-push-hosts.ts';
import { readWebPushSubscription } from '@tocsin/shared/wire/web-push-subscription.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { textField } from '../../http/fields.ts';

/**
 * Returns the push token in its stored form: the JSON of a browser's subscription without members that do not matter,
 * for other platforms the given text. Throws 422 if it is not a subscription at a known push service.
 */
export function pushTokenFor({ config }: Pick<ApiDeps, 'config'>, platform: Platform, pushToken: string): string {
  if (platform !== 'web') return pushToken;
  const read = readWebPushSubscription(pushToken, webPushHosts(config.WEB_PUSH_HOSTS));
  if ('fault' in read) throw new AppError('unprocessable', `push_token: ${read.fault}`);
  return JSON.stringify(read.subscription);
}

/** Fields of a device in requests. */
export const deviceFields = {
  pushToken: textField({ min: 1, max: 4_096 }),
  platform: z.enum(platforms),
  deviceId: textField({ min: 1, max: 128 }),
  deviceName: textField({ min: 0, max: 100 }),
  appVersion: textField({ min: 0, max: 50 }),
};
