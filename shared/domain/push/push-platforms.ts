import type { Platform } from './device.ts';

interface PushProvider {
  /** The display name. */
  readonly name: string;
  /** The required configuration; the relay needs none. */
  readonly variables: readonly string[];
}

/** The push provider of each platform. */
export const pushProviders: Readonly<Record<Platform, PushProvider>> = {
  ios: { name: 'APNs', variables: ['APNS_KEY_FILE', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_BUNDLE_ID'] },
  android: { name: 'FCM', variables: ['FCM_SERVICE_ACCOUNT_FILE'] },
  expo: { name: 'Expo', variables: [] },
};

/** Whether the platform's provider is configured. */
export function isPushConfigured(config: object, platform: Platform): boolean {
  const values = new Map<string, unknown>(Object.entries(config));
  return pushProviders[platform].variables.every((name) => values.get(name) !== undefined);
}
