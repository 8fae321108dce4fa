import { startApnsSimulator } from '@tocsin/shared/testing/simulators/apns-simulator.ts';
import { startExpoSimulator } from '@tocsin/shared/testing/simulators/expo-simulator.ts';
import { startFcmSimulator } from '@tocsin/shared/testing/simulators/fcm-simulator.ts';
import { apnsSettings, expoSettings, fcmSettings } from '@tocsin/shared/testing/simulators/simulator-settings.ts';
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
    const apns = await startApnsSimulator({ latencyMs });
    tell({ kind: 'started', settings: apnsSettings(apns) });
    return apns.pushes;
  }
  if (platform === 'android') {
    const fcm = await startFcmSimulator({ latencyMs });
    tell({ kind: 'started', settings: fcmSettings(fcm) });
    return fcm.pushes;
  }
  const expo = await startExpoSimulator({ latencyMs });
  tell({ kind: 'started', settings: expoSettings(expo) });
  return expo.pushes;
}
