import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig, showConfig, variableNames } from './load-config.ts';
import { newVapidPrivateKey, vapidPublicKeyOf } from './vapid-keys.ts';

const none = '/nonexistent/.env';

describe('loadConfig', () => {
  test('an empty environment configures an embedded installation with all roles', () => {
    const config = loadConfig({}, none);
    expect(config.cluster).toBeUndefined();
    expect(config.ROLES).toEqual(['api', 'fanout', 'notifier', 'retention']);
    expect([config.HOST, config.PORT]).toEqual(['127.0.0.1', 8080]);
  });

  test('rejects an incomplete set of cluster URLs and names the missing ones', () => {
    expect(() => loadConfig({ KAFKA_BROKERS: 'k:9092', REDIS_URL: 'redis://r' }, none)).toThrow(/MONGO_URL missing/);
    expect(() => loadConfig({ MONGO_URL: 'mongodb://m' }, none)).toThrow(/KAFKA_BROKERS and REDIS_URL missing/);
  });

  test('requires a JWT secret of at least 32 bytes for a cluster', () => {
    const urls = { KAFKA_BROKERS: 'a:1, b:2', MONGO_URL: 'mongodb://m', REDIS_URL: 'redis://r' };
    expect(() => loadConfig(urls, none)).toThrow(/JWT_SECRET missing/);
    expect(() => loadConfig({ ...urls, ROLES: 'fanout,api' }, none)).toThrow(/JWT_SECRET missing/);
    expect(() => loadConfig(urls, none, 'api')).toThrow(/JWT_SECRET missing/);
    expect(loadConfig(urls, none, 'notifier').jwtSecrets).toBeUndefined();
    expect(loadConfig({ ...urls, ROLES: 'fanout' }, none).jwtSecrets).toBeUndefined();
    expect(() => loadConfig({ ...urls, JWT_SECRET: 'short' }, none)).toThrow(/at least 32 bytes/);
    const config = loadConfig({ ...urls, JWT_SECRET: 'x'.repeat(32) }, none);
    expect(config.cluster?.kafkaBrokers).toEqual(['a:1', 'b:2']);
  });

  test.each([
    ['JWT_SECRET', 'x'.repeat(31), /JWT_SECRET: each secret needs at least 32 bytes/],
    ['JWT_SECRET', `${'x'.repeat(32)},short`, /at least 32 bytes/],
    ['JWT_SECRET', ' , ', /at least 32 bytes/],
    ['JWT_SECRET', 'secret', /at least 32 bytes/],
  ])('rejects the short secret %s=%s, embedded and in a cluster', (name, value, why) => {
    const cluster = {
      KAFKA_BROKERS: 'k:9092',
      MONGO_URL: 'mongodb://m',
      REDIS_URL: 'redis://r',
      JWT_SECRET: 'y'.repeat(32),
    };
    for (const env of [{}, cluster]) expect(() => loadConfig({ ...env, [name]: value }, none)).toThrow(why);
  });

  test.each(['admin', 'x'.repeat(15)])('rejects the short ADMIN_TOKEN=%s in production', (token) => {
    expect(() => loadConfig({ NODE_ENV: 'production', ADMIN_TOKEN: token }, none)).toThrow(
      'ADMIN_TOKEN: needs at least 16 characters if NODE_ENV is production',
    );
    expect(loadConfig({ NODE_ENV: 'production', ADMIN_TOKEN: 'x'.repeat(16) }, none).ADMIN_TOKEN).toHaveLength(16);
  });

  test.each([
    ['TRUST_PROXY', 'banana', 'TRUST_PROXY: must be a number of hops, or comma-separated addresses and CIDRs'],
    ['TRUST_PROXY', '10.0.0.0/33', 'TRUST_PROXY: must be'],
    ['SMTP_URL', 'http://mail.example.org', 'SMTP_URL: must be a URL that begins with smtp:// or smtps://'],
    ['BASE_URL', 'ftp://tocsin.example.org', 'BASE_URL: must be a URL that begins with http:// or https://'],
    [
      'CORS_ORIGINS',
      'https://app.example.org, app.example.org',
      'CORS_ORIGINS: must be `*`, or comma-separated origins like https://app.example.org',
    ],
    ['CORS_ORIGINS', 'https://app.example.org/app', 'CORS_ORIGINS: must be'],
    [
      'RETENTION_SCHEDULE',
      '99 99 * * *',
      'RETENTION_SCHEDULE: must be a duration like 60s or a cron expression of five fields',
    ],
  ])('rejects %s=%s and names the variable and its format', (name, value, why) => {
    expect(() => loadConfig({ [name]: value }, none)).toThrow(why);
  });

  test.each(['', 'off', '1', '10.0.0.0/8, 2001:db8::1', 'loopback'])('accepts TRUST_PROXY=%s', (value) => {
    expect(loadConfig({ TRUST_PROXY: value }, none).TRUST_PROXY).toBe(value);
  });

  test('accepts switches and levels in any case, short admin tokens outside production, and team periods of 0 days', () => {
    const config = loadConfig(
      { RATE_LIMITS: 'OFF', LOG_LEVEL: 'WARN', ADMIN_TOKEN: 'admin', TEAM_GRACE_DAYS: '0', TEAM_REMOVAL_DAYS: '0' },
      none,
    );
    expect(config).toMatchObject({
      RATE_LIMITS: false,
      LOG_LEVEL: 'warn',
      ADMIN_TOKEN: 'admin',
      TEAM_GRACE_DAYS: 0,
      TEAM_REMOVAL_DAYS: 0,
    });
  });

  test.each([
    ['*', ['*']],
    ['https://a.example.org/, http://localhost:5173', ['https://a.example.org', 'http://localhost:5173']],
    ['capacitor://localhost,null', ['capacitor://localhost', 'null']],
  ])('accepts CORS_ORIGINS=%s', (value, origins) => {
    expect(loadConfig({ CORS_ORIGINS: value }, none).CORS_ORIGINS).toEqual(origins);
  });

  test('error messages do not contain the secret', () => {
    for (const env of [
      { JWT_SECRET: 'hunter2' },
      { NODE_ENV: 'production', ADMIN_TOKEN: 'hunter2' },
      { SMTP_URL: 'hunter2' },
      { MONGO_URL: 'hunter2' },
    ]) {
      try {
        loadConfig(env, none);
        throw new Error('it was taken');
      } catch (error) {
        expect(String(error)).toContain('The configuration is invalid');
        expect(String(error)).not.toContain('hunter2');
      }
    }
  });

  describe('APNs', () => {
    const all = { APNS_KEY_FILE: 'k', APNS_KEY_ID: 'K1', APNS_TEAM_ID: 'T1', APNS_BUNDLE_ID: 'org.example.app' };
    let folder: string;
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'tocsin-config-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));
    const key = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n';

    test('is off without its variables, and reads its key from a file', () => {
      expect(loadConfig({}, none).apns).toBeUndefined();
      expect(loadConfig({ ...all, APNS_KEY_FILE: file('key.p8', key) }, none).apns).toEqual({
        key,
        keyId: 'K1',
        teamId: 'T1',
        bundleId: 'org.example.app',
        url: undefined,
        ca: undefined,
      });
    });

    test.each([
      [
        'part of them',
        () => ({ APNS_KEY_ID: 'K1', APNS_BUNDLE_ID: 'b' }),
        'APNS_KEY_FILE and APNS_TEAM_ID missing: set all of',
      ],
      ['a missing key file', () => ({ ...all, APNS_KEY_FILE: join(folder, 'nowhere') }), 'cannot be read (ENOENT)'],
      [
        'a file without a key',
        () => ({ ...all, APNS_KEY_FILE: file('empty.p8', '') }),
        'does not contain a PEM private key',
      ],
      [
        'an invalid CA file',
        () => ({ ...all, APNS_KEY_FILE: file('key.p8', key), APNS_CA_FILE: file('key2.p8', key) }),
        'does not contain a PEM certificate',
      ],
    ])('rejects %s', (_what, env, fault) => {
      expect(() => loadConfig(env(), none)).toThrow(fault);
    });
  });

  describe('web push', () => {
    const VAPID_PRIVATE_KEY = newVapidPrivateKey();
    const VAPID_PUBLIC_KEY = vapidPublicKeyOf(VAPID_PRIVATE_KEY);

    test('has no keys without its variables, and a contact from other variables', () => {
      expect(loadConfig({}, none).webPush).toEqual({
        keys: undefined,
        subject: 'mailto:tocsin@localhost',
        ca: undefined,
      });
      expect(loadConfig({ BASE_URL: 'https://tocsin.example.org' }, none).webPush.subject).toBe(
        'https://tocsin.example.org',
      );
      expect(loadConfig({ VAPID_SUBJECT: 'mailto:me@example.org' }, none).webPush.subject).toBe(
        'mailto:me@example.org',
      );
    });

    test('needs the private key only for the notifier', () => {
      expect(loadConfig({ VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY }, none).webPush.keys).toEqual({
        publicKey: VAPID_PUBLIC_KEY,
        privateKey: VAPID_PRIVATE_KEY,
      });
      expect(loadConfig({ VAPID_PUBLIC_KEY }, none, 'api').webPush.keys).toEqual({ publicKey: VAPID_PUBLIC_KEY });
      for (const role of [undefined, 'notifier'])
        expect(() => loadConfig({ VAPID_PUBLIC_KEY }, none, role)).toThrow('VAPID_PRIVATE_KEY missing');
    });

    test.each([
      ['a private key alone', { VAPID_PRIVATE_KEY }, 'VAPID_PUBLIC_KEY missing'],
      [
        'keys that do not belong together',
        { VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY: newVapidPrivateKey() },
        'VAPID_PRIVATE_KEY: is not the private key of VAPID_PUBLIC_KEY',
      ],
      ['a text as a key', { VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY: 'secret' }, 'is not the private key'],
      ['a contact without an address', { VAPID_SUBJECT: 'me' }, 'VAPID_SUBJECT: must be a mailto: or https: address'],
      ['a URL as a host', { WEB_PUSH_HOSTS: 'https://push.example.org' }, 'WEB_PUSH_HOSTS: must be comma-separated'],
    ])('rejects %s', (_what, env, fault) => {
      expect(() => loadConfig(env, none)).toThrow(fault);
    });

    test('accepts hosts in any case, with a port or a wildcard', () => {
      expect(loadConfig({ WEB_PUSH_HOSTS: 'Push.example.org, 127.0.0.1:9793,*.example.net' }, none)).toMatchObject({
        WEB_PUSH_HOSTS: ['push.example.org', '127.0.0.1:9793', '*.example.net'],
      });
    });
  });

  describe('FCM', () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'tocsin-config-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));
    const withFile = (text: string) => {
      const file = join(folder, 'account.json');
      writeFileSync(file, text);
      return loadConfig({ FCM_SERVICE_ACCOUNT_FILE: file }, none).fcmServiceAccount;
    };
    const account = {
      type: 'service_account',
      project_id: 'p',
      private_key: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n',
      client_email: 'a@p.iam.gserviceaccount.com',
      token_uri: 'https://oauth2.googleapis.com/token',
    };

    test('is off without a service account key', () => {
      expect(loadConfig({}, none).fcmServiceAccount).toBeUndefined();
      expect(withFile(JSON.stringify({ ...account, client_id: '1' }))).toEqual(account);
    });

    test.each([
      '',
      '{}',
      'null',
      JSON.stringify({ ...account, type: 'authorized_user' }),
      JSON.stringify({ ...account, private_key: 'x' }),
    ])('rejects a file with %j', (text) => {
      expect(() => withFile(text)).toThrow('is not a service account key in JSON');
    });

    test('rejects a missing file', () => {
      expect(() => loadConfig({ FCM_SERVICE_ACCOUNT_FILE: join(folder, 'nowhere') }, none)).toThrow(
        'cannot be read (ENOENT)',
      );
    });
  });

  describe('Kafka over TLS and SASL', () => {
    const cluster = {
      KAFKA_BROKERS: 'k:9093',
      MONGO_URL: 'mongodb://m',
      REDIS_URL: 'redis://r',
      JWT_SECRET: 'x'.repeat(32),
    };
    const kafkaOf = (env: Record<string, string>) => {
      const { kafkaTls, kafkaSasl } = loadConfig({ ...cluster, ...env }, none).cluster!;
      return { tls: kafkaTls, sasl: kafkaSasl };
    };
    let folder: string;
    let caFile: string;
    let emptyFile: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'tocsin-config-'));
      caFile = join(folder, 'ca.pem');
      writeFileSync(caFile, rootCertificates[0]!);
      emptyFile = join(folder, 'empty.pem');
      writeFileSync(emptyFile, '');
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test('is off by default', () => {
      expect(kafkaOf({})).toEqual({ tls: undefined, sasl: undefined });
      expect(kafkaOf({ KAFKA_TLS: 'off' }).tls).toBeUndefined();
    });

    test('trusts public authorities, or the certificates of a file', () => {
      expect(kafkaOf({ KAFKA_TLS: 'on' }).tls).toEqual({});
      expect(kafkaOf({ KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: caFile }).tls).toEqual({ ca: rootCertificates[0] });
    });

    test('accepts SASL mechanisms in upper case, as Kafka writes them', () => {
      const user = { KAFKA_SASL_USERNAME: 'tocsin', KAFKA_SASL_PASSWORD: 'secret' };
      const sasl = { mechanism: 'scram-sha-512', username: 'tocsin', password: 'secret' };
      expect(kafkaOf({ ...user, KAFKA_SASL_MECHANISM: 'scram-sha-512' }).sasl).toEqual(sasl);
      expect(kafkaOf({ ...user, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512' }).sasl).toEqual(sasl);
    });

    test.each<[string, () => Record<string, string>, RegExp]>([
      ['a file without TLS', () => ({ KAFKA_TLS_CA_FILE: caFile }), /set KAFKA_TLS=on/],
      [
        'a missing file',
        () => ({ KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: join(folder, 'none.pem') }),
        /KAFKA_TLS_CA_FILE: .*none\.pem cannot be read \(ENOENT\)/,
      ],
      [
        'a file without a certificate',
        () => ({ KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: emptyFile }),
        /does not contain a PEM certificate/,
      ],
      [
        'an unknown mechanism',
        () => ({ KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }),
        /KAFKA_SASL_MECHANISM: .*plain.*scram-sha-256.*scram-sha-512/,
      ],
      [
        'a username alone',
        () => ({ KAFKA_SASL_USERNAME: 'u' }),
        /KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD missing: set all of/,
      ],
    ])('rejects %s', (_, env, why) => {
      expect(() => kafkaOf(env())).toThrow(why);
    });

    test('is ignored without a cluster', () => {
      expect(loadConfig({ KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: '/nonexistent' }, none).cluster).toBeUndefined();
    });
  });

  test('reports all faults together', () => {
    const attempt = () => loadConfig({ PORT: 'eighty', RATE_LIMITS: 'maybe', ROLES: 'api,cook' }, none);
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(/PORT.*\n.*ROLES.*\n.*RATE_LIMITS/s);
  });

  test('treats an empty variable as not set', () => {
    expect(loadConfig({ PORT: '' }, none).PORT).toBe(8080);
  });
});

describe('showConfig', () => {
  const shown = (env: NodeJS.ProcessEnv, file = none) =>
    new Map(showConfig(env, file).map(({ name, value, origin }) => [name, [value, origin]]));

  test('shows every variable with its value and its source', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tocsin-config-')), '.env');
    writeFileSync(file, 'PORT=81\nHOST=::1\nDATA_DIR=/srv\n');
    const all = shown({ PORT: '82', DATA_DIR: '' }, file);
    rmSync(join(file, '..'), { recursive: true });
    expect([...all.keys()].toSorted()).toEqual([...variableNames].toSorted());
    expect(['PORT', 'HOST', 'DATA_DIR', 'RATE_LIMITS', 'BASE_URL'].map((name) => all.get(name))).toEqual([
      ['82', 'environment'],
      ['::1', '.env'],
      ['./data', 'default'],
      ['on', 'default'],
      [null, 'default'],
    ]);
  });

  test('shows no secret and no password', () => {
    const all = shown({
      JWT_SECRET: 'one',
      ADMIN_TOKEN: 'two',
      SMTP_URL: 'smtp://ada:th/r@e@mail:25',
      REDIS_URL: 'redis://:four@redis',
      MONGO_URL: 'mongodb://a:five@b,c/d',
    });
    expect(
      ['JWT_SECRET', 'ADMIN_TOKEN', 'SMTP_URL', 'REDIS_URL', 'MONGO_URL'].map((name) => all.get(name)![0]),
    ).toEqual(['***', '***', 'smtp://ada:***@mail:25', 'redis://:***@redis', 'mongodb://a:***@b,c/d']);
  });
});
