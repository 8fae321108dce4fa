import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApnsSimulator } from './apns-simulator.ts';
import type { ExpoSimulator } from './expo-simulator.ts';
import type { FcmSimulator } from './fcm-simulator.ts';
import type { WebPushSimulator } from './web-push-simulator.ts';

/** Settings that connect a notifier to a simulator: plain values, and files with these contents. */
export interface SimulatorSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

export function apnsSettings({ url, certificate, key, keyId, teamId, bundleId }: ApnsSimulator): SimulatorSettings {
  return {
    env: { APNS_URL: url, APNS_KEY_ID: keyId, APNS_TEAM_ID: teamId, APNS_BUNDLE_ID: bundleId },
    files: { APNS_CA_FILE: certificate, APNS_KEY_FILE: key },
  };
}

export function fcmSettings({ url, serviceAccount }: FcmSimulator): SimulatorSettings {
  return { env: { FCM_URL: url }, files: { FCM_SERVICE_ACCOUNT_FILE: serviceAccount } };
}

export function expoSettings({ url }: ExpoSimulator): SimulatorSettings {
  return { env: { EXPO_URL: url }, files: {} };
}

export function webPushSettings({ host, certificate, vapid }: WebPushSimulator): SimulatorSettings {
  const { publicKey, privateKey, subject } = vapid;
  return {
    env: {
      WEB_PUSH_HOSTS: host,
      VAPID_PUBLIC_KEY: publicKey,
      VAPID_PRIVATE_KEY: privateKey,
      VAPID_SUBJECT: subject,
    },
    files: { WEB_PUSH_CA_FILE: certificate },
  };
}

/**
 * Writes the files into the directory (created if missing), readable by the owner only; returns all settings as
 * environment variables.
 */
export function writeSimulatorSettings(dir: string, settings: readonly SimulatorSettings[]): Record<string, string> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const env: Record<string, string> = {};
  for (const one of settings) {
    Object.assign(env, one.env);
    for (const [name, text] of Object.entries(one.files)) {
      env[name] = path.resolve(dir, name.toLowerCase().replaceAll('_', '-'));
      writeFileSync(env[name], text, { mode: 0o600 });
    }
  }
  return env;
}
