import { join } from 'node:path';
import { findProgram } from '../engines/find-program.ts';
import { runProgram } from '../engines/run-program.ts';

/** Lists what this machine lacks for `makeCertificate`; empty if nothing is missing. */
export const missingForCertificate = (): string[] =>
  findProgram('openssl') === undefined ? ['openssl (makes a certificate)'] : [];

/** Creates a self-signed certificate for 127.0.0.1 and its key as files in the directory. */
export const makeCertificate = async (dir: string): Promise<{ keyFile: string; certificateFile: string }> => {
  const [keyFile, certificateFile] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  await runProgram('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=127.0.0.1',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-keyout',
    keyFile,
    '-out',
    certificateFile,
  ]);
  return { keyFile, certificateFile };
};
