import type { Platform } from './device.ts';

interface PushProvider {
  /** What its makers call it. */
  readonly name: string;
  /** The configuration that it takes to push through it; the relay takes none. */
  readonly variables: readonly string[];
}

/** Who brings pushes to each platform's devices. */
export const pushProviders: Readonly<Record<Platform, PushProvider>> = {
  ios: { name: 'APNs', variables: ['APNS_KEY_FILE', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_BUNDLE_ID'] },
  android: { name: 'FCM', variables: ['FCM_SERVICE_ACCOUNT_FILE'] },
  expo: { name: 'Expo', variables: [] },
};

/** Whether the configuration has what the platform's provider takes. */
export function isPushConfigured(config: object, platform: Platform): boolean {
  const values = new Map<string, unknown>(Object.entries(config));
  return pushProviders[platform].variables.every((name) => values.get(name) !== undefined);
}
