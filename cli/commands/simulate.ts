import { once } from 'node:events';
import {
  apnsSettings,
  expoSettings,
  fcmSettings,
  webPushSettings,
  writeSimulatorSettings,
} from '@tocsin/simulators/simulator-settings.ts';
import { Command } from 'commander';
import { wholeNumber } from '../options/whole-number.ts';

const portDefault = 9_790;

interface SimulateOptions {
  readonly port: number;
  readonly dir: string;
  readonly latency: number;
}

/** `tocsin simulate`: simulates push providers, to try pushes without vendor accounts. Runs until SIGTERM or SIGINT. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description(
      'simulate APNs, FCM, Expo and a push service of browsers on this machine; prints the settings for `.env`, then each push',
    )
    .option('--port <number>', 'the first of four ports', wholeNumber(1, 65_532), portDefault)
    .option('--dir <path>', 'directory for the credentials of the simulators', './data/simulators')
    .option('--latency <ms>', 'response time of all but Expo', wholeNumber(0, 60_000), 0)
    .action(simulate);
}

async function simulate({ port, dir, latency }: SimulateOptions): Promise<void> {
  // Loaded on demand: no other command needs the simulators.
  const [
    { startApnsSimulator },
    { startFcmSimulator },
    { startExpoSimulator },
    { startWebPushSimulator, webPushSubscription },
  ] = await Promise.all([
    import('@tocsin/simulators/apns-simulator.ts'),
    import('@tocsin/simulators/fcm-simulator.ts'),
    import('@tocsin/simulators/expo-simulator.ts'),
    import('@tocsin/simulators/web-push-simulator.ts'),
  ]);
  const print = (provider: string) => (push: object) =>
    void process.stdout.write(`${JSON.stringify({ provider, ...push })}\n`);
  const isForgetful = true;
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const apns = await startApnsSimulator({
    isForgetful,
    port,
    latencyMs: latency,
    onPush: ({ token, payload }) => print('apns')({ token, ...payload }),
  });
  const fcm = await startFcmSimulator({
    isForgetful,
    port: port + 1,
    latencyMs: latency,
    onPush: ({ token, message }) => print('fcm')({ token, ...message }),
  });
  const expo = await startExpoSimulator({
    isForgetful,
    port: port + 2,
    onPush: ({ token, message }) => print('expo')({ token, ...message }),
  });
  const web = await startWebPushSimulator({
    isForgetful,
    port: port + 3,
    latencyMs: latency,
    onPush: ({ token, payload }) => print('web')({ token, ...payload }),
  });
  const settings = writeSimulatorSettings(dir, [
    apnsSettings(apns),
    fcmSettings(fcm),
    expoSettings(expo),
    webPushSettings(web),
  ]);
  process.stdout.write(
    `${Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n')}\n`,
  );
  process.stderr.write(
    '\n  Put these lines into .env and start the server. Each push is printed here as a line of JSON. Press Ctrl+C to stop.\n' +
      `  The push token of a simulated browser: ${webPushSubscription(web.url, 'browser')}\n\n`,
  );
  await ended;
  await Promise.all([apns.close(), fcm.close(), expo.close(), web.close()]);
}
