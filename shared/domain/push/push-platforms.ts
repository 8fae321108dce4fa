import type { Platform } from './device.ts';
import type { VapidKeys } from './vapid-keys.ts';

interface PushProvider {
  /** The display name. */
  readonly name: string;
  /** The required configuration; the relay needs none, and the engine can supply the keys of web push. */
  readonly variables: readonly string[];
}

/** The push provider of each platform. */
export const pushProviders: Readonly<Record<Platform, PushProvider>> = {
  ios: { name: 'APNs', variables: ['APNS_KEY_FILE', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_BUNDLE_ID'] },
  android: { name: 'FCM', variables: ['FCM_SERVICE_ACCOUNT_FILE'] },
  expo: { name: 'Expo', variables: [] },
  web: { name: 'Web push', variables: ['VAPID_PUBLIC_KEY'] },
};

/** Whether the platform's provider is configured. */
export function isPushConfigured(
  { config, engine }: { readonly config: object; readonly engine: { readonly vapidKeys: VapidKeys | undefined } },
  platform: Platform,
): boolean {
  if (platform === 'web') return engine.vapidKeys !== undefined;
  const values = new Map<string, unknown>(Object.entries(config));
  return pushProviders[platform].variables.every((name) => values.get(name) !== undefined);
}
