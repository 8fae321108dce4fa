import { lookup } from 'node:dns/promises';
import { createPrivateKey } from 'node:crypto';
import { inspectEngine } from '@tocsin/shared/installation/inspect-engine.ts';
import { findingsOf, type Finding } from '@tocsin/shared/platform/finding.ts';
import { ConfigError, isShortAdminToken, loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { Command } from 'commander';
import type { PrintOptions } from '../operator/operator-store.ts';

/** `tocsin doctor`: whether an installation could work as it is configured, and what to do where it could not. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check the configuration, engines, mail server and push settings; works while servers run. Creates a missing DATA_DIR',
    )
    .option('--json', 'print one line of JSON: [{part, state, text}]')
    .action(async ({ json }: PrintOptions) => {
      const findings = await inspect();
      process.stdout.write(json === true ? `${JSON.stringify(findings)}\n` : findings.map(asLine).join(''));
      if (findings.some(({ state }) => state === 'fault')) process.exitCode = 1;
    });
}

const marks = { ok: 'ok     ', warning: 'WARNING', fault: 'FAULT  ' } as const;
const asLine = ({ part, state, text }: Finding) => `${marks[state]}  ${part.padEnd(13)}  ${text}\n`;

async function inspect(): Promise<Finding[]> {
  const found = findingsOf('configuration');
  let config: Config;
  try {
    config = loadConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(found.fault);
    throw error;
  }
  // Loaded here: no other command needs what sends mails.
  const { inspectMailServer } = await import('@tocsin/notifier/mail/inspect-mail-server.ts');
  const [addresses, engine, mails] = await Promise.all([
    inspectAddresses(config),
    inspectEngine(config, openLogger('doctor', 'silent')),
    inspectMailServer(config.SMTP_URL),
  ]);
  const kind = config.cluster === undefined ? 'embedded: one process on one file' : 'a cluster';
  return [found.ok(kind), ...inspectAccess(config), ...addresses, ...engine, ...mails, ...inspectPush(config)];
}

function inspectAccess(config: Config): Finding[] {
  const found = findingsOf('configuration');
  return [
    ...(config.RATE_LIMITS
      ? []
      : [found.warning('RATE_LIMITS is off: anybody may publish, and guess passwords, as fast as they can')]),
    ...(config.ADMIN_TOKEN === undefined
      ? [found.ok('no ADMIN_TOKEN: /admin is closed, and `tocsin` on this machine does the same')]
      : []),
    ...(isShortAdminToken(config.ADMIN_TOKEN)
      ? [
          found.warning(
            'ADMIN_TOKEN has less than 16 characters: who guesses it is the operator; take one of `openssl rand -hex 16`',
          ),
        ]
      : []),
  ];
}

/** Addresses that mean this machine, and nothing to anybody else. */
const localHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

async function inspectAddresses(config: Config): Promise<Finding[]> {
  const found = findingsOf('addresses');
  if (config.BASE_URL === undefined) {
    return [
      found.warning(
        `no BASE_URL: links in mails lead to http://${config.HOST}:${config.PORT}, which is of use on this machine alone`,
      ),
    ];
  }
  const { protocol, hostname } = new URL(config.BASE_URL);
  if (localHosts.has(hostname))
    return [found.warning(`BASE_URL is ${config.BASE_URL}: links in mails are of use on this machine alone`)];
  const isKnown = await lookup(hostname).then(
    () => true,
    () => false,
  );
  return [
    isKnown
      ? found.ok(`${config.BASE_URL} is where the public reaches it`)
      : found.fault(`BASE_URL: the name ${hostname} is not known here: set it in DNS`),
    ...(protocol === 'http:'
      ? [
          found.warning(
            `BASE_URL is not https: passwords and tokens can be read on their way. Put a proxy with TLS before it`,
          ),
        ]
      : []),
    ...(config.TRUST_PROXY === ''
      ? [
          found.warning(
            'no TRUST_PROXY: behind a proxy all callers have its address, and share one budget. Set 1 for one proxy',
          ),
        ]
      : []),
  ];
}

function inspectPush({ apns, fcmServiceAccount, APNS_URL, FCM_URL, EXPO_URL }: Config): Finding[] {
  const found = findingsOf('push');
  const simulated = Object.entries({ APNS_URL, FCM_URL, EXPO_URL }).filter(
    ([name, url]) => url !== undefined && !(name === 'APNS_URL' && url.endsWith('.push.apple.com')),
  );
  return [
    apns === undefined ? found.ok('APNs is not configured: nothing goes to ios devices') : inspectApnsKey(apns.key),
    fcmServiceAccount === undefined
      ? found.ok('FCM is not configured: nothing goes to android devices')
      : found.ok(`FCM sends as ${fcmServiceAccount.client_email}`),
    ...simulated.map(([name, url]) => found.warning(`${name} is ${url}: pushes go there, not to the provider`)),
  ];
}

/** Apple's keys are of the curve P-256; one of another kind signs tokens that Apple refuses. */
function inspectApnsKey(key: string): Finding {
  const found = findingsOf('push');
  try {
    const { asymmetricKeyDetails } = createPrivateKey(key);
    if (asymmetricKeyDetails?.namedCurve === 'prime256v1') return found.ok('the APNs key can sign');
  } catch {
    // told below
  }
  return found.fault(
    'APNS_KEY_FILE holds no key of the curve P-256: take the .p8 file from Apple’s developer account as it is',
  );
}
