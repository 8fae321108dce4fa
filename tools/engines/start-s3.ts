import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installMoto } from './install-moto.ts';
import { reportProgress } from './report-progress.ts';

/** Starts an S3 server on 127.0.0.1 that accepts any credentials. Objects are in memory. Installs it if missing. */
export const startS3 = async (options: EngineOptions = {}): Promise<Engine> => {
  await endOrphans();
  const dir = await installMoto(options.report ?? reportProgress);
  return startOnFreePorts(1, async ([port]) => {
    const url = `http://127.0.0.1:${port}`;
    return startEngineProcess(
      {
        name: 's3',
        url,
        file: 'python3',
        env: { PYTHONPATH: dir, PYTHONDONTWRITEBYTECODE: '1' },
        args: ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
        readyLine: 'Running on',
        answers: async () => (await fetch(url)).ok,
      },
      engineState('s3', options),
    );
  });
};
