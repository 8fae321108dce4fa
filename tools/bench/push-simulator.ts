import { startApnsSimulator } from '@tocsin/shared/testing/simulators/apns-simulator.ts';
import { startExpoSimulator } from '@tocsin/shared/testing/simulators/expo-simulator.ts';
import { startFcmSimulator } from '@tocsin/shared/testing/simulators/fcm-simulator.ts';
import type { SimulatorAnswer, SimulatorQuestion } from './push-simulators.ts';

/** A simulator of a push provider as a process: says where it is, and how many pushes it took whenever it is asked. */
const [platform, latency] = process.argv.slice(2);
const latencyMs = Number(latency);

const tell = (answer: SimulatorAnswer): void => void process.send!(answer);
const pushes = await start();
process.on('message', ({ messageId }: SimulatorQuestion) => {
  const ofMessage = pushes.filter((push) => push.messageId === messageId);
  const distinct = new Set(ofMessage.map(({ token }) => token)).size;
  tell({ kind: 'tally', taken: ofMessage.length, distinct, firstAt: ofMessage[0]?.at ?? null, lastAt: ofMessage.at(-1)?.at ?? null });
});
process.on('disconnect', () => process.exit());

async function start(): Promise<readonly { readonly token: string; readonly messageId: string | undefined; readonly at: number }[]> {
  if (platform === 'ios') {
    const { url, certificate, key, keyId, teamId, bundleId, pushes: taken } = await startApnsSimulator({ latencyMs });
    tell({ kind: 'started', env: { APNS_URL: url, APNS_KEY_ID: keyId, APNS_TEAM_ID: teamId, APNS_BUNDLE_ID: bundleId }, files: { APNS_CA_FILE: certificate, APNS_KEY_FILE: key } });
    return taken;
  }
  if (platform === 'android') {
    const { url, serviceAccount, pushes: taken } = await startFcmSimulator({ latencyMs });
    tell({ kind: 'started', env: { FCM_URL: url }, files: { FCM_SERVICE_ACCOUNT_FILE: serviceAccount } });
    return taken;
  }
  const { url, pushes: taken } = await startExpoSimulator({ latencyMs });
  tell({ kind: 'started', env: { EXPO_URL: url }, files: {} });
  return taken;
}
