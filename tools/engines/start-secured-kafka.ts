import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installKafka } from './install-kafka.ts';
import { reportProgress } from './report-progress.ts';
import { runProgram } from './run-program.ts';
import { startKafka, type KafkaEngine } from './start-kafka.ts';

/** A Kafka that requires TLS and SASL: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. */
export type SecuredKafka = {
  readonly kafka: KafkaEngine;
  /** The certificate that clients must trust, in PEM. */
  readonly caFile: string;
  /** Valid with all three mechanisms. */
  readonly username: string;
  readonly password: string;
  /** Stops Kafka and removes its state and certificate. */
  stop(): Promise<void>;
};

const username = 'tocsin';

/** Starts one node with a new certificate, generated with Java's keytool, and a user with a new password. */
export const startSecuredKafka = async (): Promise<SecuredKafka> => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-kafka-tls-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  const password = randomBytes(12).toString('hex');
  let kafka: KafkaEngine | undefined;
  try {
    const certificate = await makeCertificate(dir);
    kafka = await startKafka({ protocol: 'SASL_SSL', properties: brokerProperties(certificate, password) });
    await addScramUser(kafka.url, { dir, password, ...certificate });
  } catch (error) {
    await kafka?.stop();
    remove();
    throw error;
  }
  const stop = async () => {
    await kafka.stop();
    remove();
  };
  return { kafka, caFile: join(dir, 'ca.pem'), username, password, stop };
};

type Certificate = { keyStore: string; storePassword: string; caFile: string };

const makeCertificate = async (dir: string): Promise<Certificate> => {
  const keyStore = join(dir, 'broker.p12');
  const caFile = join(dir, 'ca.pem');
  const storePassword = randomBytes(12).toString('hex');
  const store = ['-alias', 'broker', '-keystore', keyStore, '-storetype', 'PKCS12', '-storepass', storePassword];
  const holder = ['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1,dns:localhost', '-validity', '2'];
  await runProgram('keytool', ['-genkeypair', ...store, '-keyalg', 'EC', '-groupname', 'secp256r1', ...holder]);
  await runProgram('keytool', ['-exportcert', '-rfc', ...store, '-file', caFile]);
  return { keyStore, storePassword, caFile };
};

const plainLogin = (password: string, more = '') =>
  `org.apache.kafka.common.security.plain.PlainLoginModule required username="${username}" password="${password}"${more};`;

const brokerProperties = (
  { keyStore, storePassword, caFile }: Certificate,
  password: string,
): Record<string, string> => ({
  'ssl.keystore.type': 'PKCS12',
  'ssl.keystore.location': keyStore,
  'ssl.keystore.password': storePassword,
  // Credential of the broker for connections to itself.
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': caFile,
  'sasl.mechanism.inter.broker.protocol': 'PLAIN',
  'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
  'listener.name.sasl_ssl.plain.sasl.jaas.config': plainLogin(password, ` user_${username}="${password}"`),
  'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': scramLogin,
  'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': scramLogin,
});

/** Stores the SCRAM password in Kafka. */
const scramLogin = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';

const addScramUser = async (
  url: string,
  { dir, password, caFile }: Certificate & { dir: string; password: string },
) => {
  const { javaArgs } = await installKafka(reportProgress);
  const clientFile = join(dir, 'client.properties');
  const client = {
    'security.protocol': 'SASL_SSL',
    'sasl.mechanism': 'PLAIN',
    'sasl.jaas.config': plainLogin(password),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': caFile,
  };
  writeFileSync(
    clientFile,
    Object.entries(client)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  );
  const asAdmin = ['kafka.admin.ConfigCommand', '--bootstrap-server', url, '--command-config', clientFile];
  const user = ['--alter', '--entity-type', 'users', '--entity-name', username];
  // Kafka rejects both mechanisms of a user in one request.
  await Promise.all(
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map((mechanism) =>
      runProgram('java', [
        '-Xmx128m',
        ...javaArgs,
        ...asAdmin,
        ...user,
        '--add-config',
        `${mechanism}=[password=${password}]`,
      ]),
    ),
  );
};
