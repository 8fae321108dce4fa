import { lookup } from 'node:dns/promises';
import { createPrivateKey } from 'node:crypto';
import { inspectEngine } from '@tocsin/shared/installation/inspect-engine.ts';
import { findingsOf, type Finding } from '@tocsin/shared/platform/finding.ts';
import { ConfigError, isShortAdminToken, loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { Command } from 'commander';
import type { PrintOptions } from '../operator/operator-store.ts';

/** `tocsin doctor`: checks whether an installation can work with its configuration, and suggests fixes. */
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
  // Loaded on demand: no other command needs the mail packages.
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
      : [found.warning('RATE_LIMITS is off: clients can publish and guess passwords without limit')]),
    ...(config.ADMIN_TOKEN === undefined
      ? [found.ok('no ADMIN_TOKEN: /admin is disabled; use the `tocsin` commands on this machine instead')]
      : []),
    ...(isShortAdminToken(config.ADMIN_TOKEN)
      ? [
          found.warning(
            'ADMIN_TOKEN has fewer than 16 characters and could be guessed: generate one with `openssl rand -hex 16`',
          ),
        ]
      : []),
  ];
}

/** Hosts that other machines cannot reach. */
const localHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

async function inspectAddresses(config: Config): Promise<Finding[]> {
  const found = findingsOf('addresses');
  if (config.BASE_URL === undefined) {
    return [
      found.warning(
        `no BASE_URL: links in emails lead to http://${config.HOST}:${config.PORT}, which works only on this machine`,
      ),
    ];
  }
  const { protocol, hostname } = new URL(config.BASE_URL);
  if (localHosts.has(hostname))
    return [found.warning(`BASE_URL is ${config.BASE_URL}: links in emails work only on this machine`)];
  const isKnown = await lookup(hostname).then(
    () => true,
    () => false,
  );
  return [
    isKnown
      ? found.ok(`clients reach the server at ${config.BASE_URL}`)
      : found.fault(`BASE_URL: cannot resolve ${hostname}: set it in DNS`),
    ...(protocol === 'http:'
      ? [
          found.warning(
            `BASE_URL is not https: passwords and tokens are sent unencrypted. Run a TLS proxy in front of Tocsin`,
          ),
        ]
      : []),
    ...(config.TRUST_PROXY === ''
      ? [
          found.warning(
            'no TRUST_PROXY: all clients of a proxy share its address and one rate limit. Set TRUST_PROXY=1 for one proxy',
          ),
        ]
      : []),
  ];
}

function inspectPush({ cluster, apns, fcmServiceAccount, webPush, APNS_URL, FCM_URL, EXPO_URL }: Config): Finding[] {
  const found = findingsOf('push');
  const simulated = Object.entries({ APNS_URL, FCM_URL, EXPO_URL }).filter(
    ([name, url]) => url !== undefined && !(name === 'APNS_URL' && url.endsWith('.push.apple.com')),
  );
  return [
    apns === undefined ? found.ok('APNs is not configured: ios devices receive no pushes') : inspectApnsKey(apns.key),
    fcmServiceAccount === undefined
      ? found.ok('FCM is not configured: android devices receive no pushes')
      : found.ok(`FCM sends as ${fcmServiceAccount.client_email}`),
    cluster !== undefined && webPush.keys === undefined
      ? found.ok('VAPID keys are not configured: browsers receive no pushes')
      : found.ok(`pushes to browsers name ${webPush.subject} as the contact`),
    ...simulated.map(([name, url]) =>
      found.warning(`${name} is ${url}: pushes go to this address, not to the provider`),
    ),
  ];
}

/** Apple rejects tokens signed with a key that is not on the curve P-256. */
function inspectApnsKey(key: string): Finding {
  const found = findingsOf('push');
  try {
    const { asymmetricKeyDetails } = createPrivateKey(key);
    if (asymmetricKeyDetails?.namedCurve === 'prime256v1') return found.ok('the APNs key can sign');
  } catch {
    // reported below
  }
  return found.fault(
    'APNS_KEY_FILE contains no P-256 key: use the unmodified .p8 file from your Apple developer account',
  );
}
