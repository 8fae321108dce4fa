import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { wholeNumber } from './whole-number.ts';

const portDefault = 9_790;

interface SimulateOptions {
  readonly port: number;
  readonly dir: string;
  readonly latency: number;
}

/** `tocsin simulate`: push providers on this machine, to try pushes without an account of any vendor. Runs until SIGTERM or SIGINT. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description('stand in for APNs, FCM and Expo on this machine: prints the settings that send pushes there, then each push')
    .option('--port <number>', 'the first of three ports', wholeNumber(1, 65_533), portDefault)
    .option('--dir <path>', 'where the credentials go that the simulators issue', './data/simulators')
    .option('--latency <ms>', 'how long APNs and FCM take for an answer', wholeNumber(0, 60_000), 0)
    .action(simulate);
}

async function simulate({ port, dir, latency }: SimulateOptions): Promise<void> {
  // Loaded here: no other command needs them.
  const [{ startApnsSimulator }, { startFcmSimulator }, { startExpoSimulator }] = await Promise.all([
    import('@tocsin/shared/testing/simulators/apns-simulator.ts'),
    import('@tocsin/shared/testing/simulators/fcm-simulator.ts'),
    import('@tocsin/shared/testing/simulators/expo-simulator.ts'),
  ]);
  const print = (provider: string) => (push: object) => void process.stdout.write(`${JSON.stringify({ provider, ...push })}\n`);
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const apns = await startApnsSimulator({ port, latencyMs: latency, onPush: ({ token, payload }) => print('apns')({ token, ...payload }) });
  const fcm = await startFcmSimulator({ port: port + 1, latencyMs: latency, onPush: ({ token, message }) => print('fcm')({ token, ...message }) });
  const expo = await startExpoSimulator({ port: port + 2, onPush: ({ token, message }) => print('expo')({ token, ...message }) });
  const write = await credentialFolder(dir);
  const settings = {
    APNS_URL: apns.url,
    APNS_CA_FILE: await write('apns-ca.pem', apns.certificate),
    APNS_KEY_FILE: await write('apns-key.p8', apns.key),
    APNS_KEY_ID: apns.keyId,
    APNS_TEAM_ID: apns.teamId,
    APNS_BUNDLE_ID: apns.bundleId,
    FCM_URL: fcm.url,
    FCM_SERVICE_ACCOUNT_FILE: await write('fcm-service-account.json', fcm.serviceAccount),
    EXPO_URL: expo.url,
  };
  process.stdout.write(`${Object.entries(settings).map(([name, value]) => `${name}=${value}`).join('\n')}\n`);
  process.stderr.write('\n  Put these lines into .env and start the server. A push shows here as a line of JSON; Ctrl+C ends this.\n\n');
  await ended;
  await Promise.all([apns.close(), fcm.close(), expo.close()]);
}

/** Makes the folder; what it is given writes a file there that nobody else can read, and resolves with its path. */
async function credentialFolder(dir: string): Promise<(name: string, text: string) => Promise<string>> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return async (name, text) => {
    const file = path.resolve(dir, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
}
