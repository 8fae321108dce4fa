import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { ExpoGatewayOptions } from './expo-gateway.ts';
import { expoLimits } from './expo-limits.ts';
import type { PushGateway } from './push-gateway.ts';

/**
 * Opens a gateway per configured platform; the relay needs no configuration. A provider's
 * library is loaded only if it is used, the one of the relay at its first push.
 */
export async function openPushGateways(
  config: Pick<Config, 'apns' | 'fcmServiceAccount' | 'FCM_URL' | 'EXPO_URL' | 'EXPO_ACCESS_TOKEN'>,
  deps: { clock: Clock },
): Promise<Map<Platform, PushGateway>> {
  const gateways = new Map<Platform, PushGateway>([
    ['expo', laterExpoGateway({ ...deps, url: config.EXPO_URL, accessToken: config.EXPO_ACCESS_TOKEN })],
  ]);
  if (config.apns !== undefined) {
    const { openApnsGateway } = await import('./apns-gateway.ts');
    gateways.set('ios', openApnsGateway({ ...deps, ...config.apns }));
  }
  if (config.fcmServiceAccount !== undefined) {
    const { openFcmGateway } = await import('./fcm-gateway.ts');
    gateways.set('android', openFcmGateway({ ...deps, serviceAccount: config.fcmServiceAccount, url: config.FCM_URL }));
  }
  return gateways;
}

function laterExpoGateway(options: ExpoGatewayOptions): PushGateway {
  let opened: Promise<PushGateway> | undefined;
  const open = () => (opened ??= import('./expo-gateway.ts').then(({ openExpoGateway }) => openExpoGateway(options)));
  return {
    ...expoLimits,
    send: async (batch) => (await open()).send(batch),
    receipts: async (tickets) => (await open()).receipts!(tickets),
    close: async () => (await opened)?.close(),
  };
}
