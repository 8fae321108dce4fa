import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { webPushHosts } from '@tocsin/shared/domain/push/web-push-hosts.ts';
import type { VapidKeys } from '@tocsin/shared/domain/push/vapid-keys.ts';
import type { ExpoGatewayOptions } from './expo-gateway.ts';
import { expoLimits } from './expo-limits.ts';
import type { PushGateway } from './push-gateway.ts';
import type { WebPushGatewayOptions } from './web-push-gateway.ts';
import { webPushLimits } from './web-push-limits.ts';

/**
 * Opens a gateway per configured platform; the relay and, with generated keys, browsers need no configuration. A
 * provider's library is loaded only if it is used, those of the relay and browsers at their first push.
 */
export async function openPushGateways(
  config: Pick<
    Config,
    'apns' | 'fcmServiceAccount' | 'FCM_URL' | 'EXPO_URL' | 'EXPO_ACCESS_TOKEN' | 'webPush' | 'WEB_PUSH_HOSTS'
  >,
  { vapidKeys, ...deps }: { clock: Clock; vapidKeys: VapidKeys | undefined },
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
  const { keys = vapidKeys, subject, ca } = config.webPush;
  if (keys?.privateKey !== undefined) {
    const vapid = { ...keys, privateKey: keys.privateKey, subject };
    gateways.set('web', laterWebPushGateway({ ...deps, vapid, ca, hosts: webPushHosts(config.WEB_PUSH_HOSTS) }));
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

function laterWebPushGateway(options: WebPushGatewayOptions): PushGateway {
  let opened: Promise<PushGateway> | undefined;
  const open = () =>
    (opened ??= import('./web-push-gateway.ts').then(({ openWebPushGateway }) => openWebPushGateway(options)));
  return {
    ...webPushLimits,
    send: async (batch) => (await open()).send(batch),
    close: async () => (await opened)?.close(),
  };
}
