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

/** A TLS proxy in front of Tocsin. */
export interface ReverseProxy {
  /** HTTPS URL of the proxy. */
  readonly port: number;
  /** The certificate that clients must trust. */
  readonly certificate: string;
  close(): Promise<void>;
}

export interface Nginx extends ReverseProxy {
  /** The same site without TLS, for tests with many clients. */
  readonly plainUrl: string;
}

/** Debian installs nginx in a directory that only root's PATH contains. */
const nginxPath = (): string | undefined => findProgram('nginx') ?? findProgram('nginx', { PATH: '/usr/sbin' });

/** Lists what this machine lacks for `startNginx`; empty if nothing is missing. */
export const missingForNginx = (): string[] => (nginxPath() === undefined ? ['nginx'] : []);

/** Starts nginx with `deploy/nginx.conf` in front of these API nodes. Only addresses and file paths differ. */
export const startNginx = (...nodes: readonly URL[]): Promise<Nginx> =>
  startOnFreePorts(2, ([port, plainPort]) => startOn(port!, plainPort!, nodes));

const startOn = async (port: number, plainPort: number, nodes: readonly URL[]): Promise<Nginx> => {
  const dir = mkdtempSync(path.join(tmpdir(), 'tocsin-nginx-'));
  const { keyFile, certificateFile } = await makeCertificate(dir);
  const site = readFileSync(path.join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8')
    .replace(/server 127\.0\.0\.1:8080(.*);/, (_, options: string) =>
      nodes.map(({ host }) => `server ${host}${options};`).join(' '),
    )
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl; listen 127.0.0.1:${plainPort};`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificateFile};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${keyFile};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${path.join(dir, name)};`,
  );
  const file = path.join(dir, 'main.conf');
  // As root, nginx would switch to a user that cannot read these files.
  const user = process.getuid?.() === 0 ? 'user root; ' : '';
  writeFileSync(
    file,
    `${user}daemon off; worker_processes 1; pid ${path.join(dir, 'pid')}; events {} http { access_log off; ${temporary.join(' ')}\n${site}\n}`,
  );
  const child = spawn(nginxPath()!, ['-p', dir, '-e', path.join(dir, 'error.log'), '-c', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await eventually(() => portAccepts(port));
  return {
    port,
    plainUrl: `http://127.0.0.1:${plainPort}`,
    certificate: readFileSync(certificateFile, 'utf8'),
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true });
    },
  };
};
