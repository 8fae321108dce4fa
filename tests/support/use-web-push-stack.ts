import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { webPushSettings, writeSimulatorSettings } from '@tocsin/simulators/simulator-settings.ts';
import { startWebPushSimulator } from '@tocsin/simulators/web-push-simulator.ts';
import { useOwnStack } from './use-own-stack.ts';

/** Starts a simulated push service of browsers and a stack that pushes to it; both close after the tests of a file. */
export async function useWebPushStack() {
  const service = await startWebPushSimulator();
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-web-push-'));
  const settings = writeSimulatorSettings(folder, [webPushSettings(service)]);
  const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off', ...settings });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });
  return { service, stack, store };
}
