import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { findProgram } from '../engines/find-program.ts';
import { startOnFreePorts } from '../engines/free-ports.ts';
import { portAccepts } from '../engines/port-accepts.ts';
import { makeCertificate } from './make-certificate.ts';
import type { ReverseProxy } from './start-nginx.ts';

/** Lists what this machine lacks for `startCaddy`; empty if nothing is missing. */
export const missingForCaddy = (): string[] => (findProgram('caddy') === undefined ? ['caddy'] : []);

/** Starts Caddy with `deploy/Caddyfile`. Only addresses and the source of the certificate differ. */
export const startCaddy = (target: URL): Promise<ReverseProxy> =>
  startOnFreePorts(1, ([port]) => startOn(port!, target));

const startOn = async (port: number, target: URL): Promise<ReverseProxy> => {
  const dir = mkdtempSync(path.join(tmpdir(), 'tocsin-caddy-'));
  const { keyFile, certificateFile } = await makeCertificate(dir);
  const file = path.join(dir, 'Caddyfile');
  writeFileSync(
    file,
    readFileSync(path.join(import.meta.dirname, '../../deploy/Caddyfile'), 'utf8')
      // Only the site: no admin port and no redirect port from HTTP to HTTPS.
      .replace(
        'grace_period 5s',
        'grace_period 1s\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\tlevel ERROR\n\t}',
      )
      .replace(
        /^tocsin\.example\.org \{/m,
        `https://127.0.0.1:${port} {\n\tbind 127.0.0.1\n\ttls ${certificateFile} ${keyFile}`,
      )
      .replace('reverse_proxy 127.0.0.1:8080', `reverse_proxy ${target.host}`),
  );
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir };
  const child = spawn(findProgram('caddy')!, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await eventually(() => portAccepts(port));
  return {
    port,
    certificate: readFileSync(certificateFile, 'utf8'),
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true });
    },
  };
};
