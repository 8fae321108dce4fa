import { startApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startFcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import { apnsSettings, expoSettings, fcmSettings, webPushSettings } from '@tocsin/simulators/simulator-settings.ts';
import { startWebPushSimulator } from '@tocsin/simulators/web-push-simulator.ts';
import type { SimulatorAnswer, SimulatorQuestion } from './push-simulators.ts';

/** A push provider simulator as a process: reports its address, and on request the number of accepted pushes. */
const [platform, latency] = process.argv.slice(2);
const latencyMs = Number(latency);

interface Taken {
  taken: number;
  readonly tokens: Set<string>;
  firstAt: number | null;
  lastAt: number | null;
}

/** Counts on arrival: storing all pushes and scanning them on each request would cost as much as some of the pushes. */
const ofMessages = new Map<string | undefined, Taken>();
const nothing: Taken = { taken: 0, tokens: new Set(), firstAt: null, lastAt: null };

const tell = (answer: SimulatorAnswer): void => void process.send!(answer);
process.on('message', ({ messageId }: SimulatorQuestion) => {
  const { tokens, ...counted } = ofMessages.get(messageId) ?? nothing;
  tell({ kind: 'tally', ...counted, distinct: tokens.size });
});
process.on('disconnect', () => process.exit());
tell({ kind: 'started', settings: await start() });

function onPush({
  token,
  messageId,
  at,
}: {
  readonly token: string;
  readonly messageId: string | undefined;
  readonly at: number;
}): void {
  let counted = ofMessages.get(messageId);
  if (counted === undefined) ofMessages.set(messageId, (counted = { ...nothing, tokens: new Set(), firstAt: at }));
  counted.taken += 1;
  counted.tokens.add(token);
  counted.lastAt = at;
}

async function start() {
  const options = { latencyMs, onPush, isForgetful: true };
  if (platform === 'ios') return apnsSettings(await startApnsSimulator(options));
  if (platform === 'android') return fcmSettings(await startFcmSimulator(options));
  if (platform === 'web') return webPushSettings(await startWebPushSimulator(options));
  return expoSettings(await startExpoSimulator(options));
}
