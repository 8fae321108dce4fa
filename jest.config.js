import { embeddedOnly } from './tools/test/embedded-only.ts';

// The projects of the test suite. To run one: `npm run jest -- --selectProjects unit`.
const base = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/tools/jest/leak-guard-environment.cjs',
  runtime: '<rootDir>/tools/jest/native-runtime.cjs',
  transform: {}, // Node strips the types
  // A second package of the same name, and the built programs.
  modulePathIgnorePatterns: ['<rootDir>/clients/typescript/dist/', '<rootDir>/dist/'],
};

const part = (name, testMatch, testPathIgnorePatterns = []) => ({
  ...base,
  displayName: name,
  testMatch: testMatch.map((glob) => `<rootDir>/${glob}`),
  testPathIgnorePatterns: ['/node_modules/', ...testPathIgnorePatterns],
});

/** Black-box tests leave open only the kept-alive connections of their client, which close after a few seconds. */
const blackBox = { testEnvironment: '<rootDir>/tools/jest/native-environment.cjs' };

/** Fault tests that do not depend on timing and can run concurrently. */
const patientFaults = [
  'archive-kill',
  'backup',
  'cluster-page',
  'consumer-stall',
  'digest-kill',
  'embedded-restart',
  'engines',
  'escalation-kill',
  'full-redis',
  'kafka-broker-loss',
  'kafka-event-log',
  'kafka-security',
  'ledger-removal',
  'log-adopted',
  'many-topics',
  'message-changes-kill',
  'mongo-failover',
  'mongo-stalled-failover',
  'moving',
  'npm-start',
  'popular-topic',
  'provider-faults',
  'provider-outage',
  'redis-failover',
  'restored-cluster',
  'retention-kill',
  's3-archive',
  'scheduled-kill',
  'second-server',
  'sink-kill',
].map((name) => `/tests/faults/${name}.test.ts`);

/** The files that a run on the cluster leaves out. */
const leftOut = process.env.TOCSIN_ENGINE === 'cluster' ? [...embeddedOnly].map((file) => `/${file}`) : [];

/** A unit test that measures the effect of thread priorities, which needs a process of normal priority. */
const prioritized = 'services/api/login-flood.test.ts';

/** Measures response times while it keeps all cores busy. */
const attacks = 'tests/installations/attack.test.ts';

/** Tests of the shared stack that TOCSIN_ENGINE names. */
const onSharedStack = {
  testEnvironment: '<rootDir>/tests/support/worker-environment.cjs',
  globalSetup: '<rootDir>/tests/support/global-setup.ts',
  globalTeardown: '<rootDir>/tests/support/global-teardown.ts',
};

export default {
  // High, because a loaded machine takes several times as long as an idle one.
  testTimeout: 120_000,
  testSequencer: '<rootDir>/tools/jest/longest-first.cjs',
  projects: [
    part(
      'unit',
      [
        'shared/**/*.test.ts',
        'services/**/*.test.ts',
        'cli/**/*.test.ts',
        'clients/**/*.test.ts',
        'simulators/**/*.test.ts',
        'tools/**/*.test.ts',
        'tests/*.test.ts',
        'tests/conformance/*.test.ts',
        'tests/ledger/*.test.ts',
      ],
      ['/shared/drivers/', '\\.engines\\.test\\.ts$', `/${prioritized}`],
    ),
    // Services on the engine that TOCSIN_ENGINE names.
    part('services', ['services/**/*.engines.test.ts', 'cli/**/*.engines.test.ts'], leftOut),
    part('contracts-embedded', ['shared/drivers/*.test.ts', 'shared/drivers/{archive,embedded}/**/*.test.ts']),
    part('contracts-cluster', ['shared/drivers/cluster/**/*.test.ts']),
    {
      ...part(
        'acceptance',
        ['tests/acceptance/**/*.test.ts', 'tests/installations/**/*.test.ts', 'tests/engines/**/*.test.ts'],
        [`/${attacks}`, ...leftOut],
      ),
      ...onSharedStack,
    },
    { ...part('attacks', [attacks]), ...onSharedStack },
    // The screens do not depend on the engine; the main path through them is an acceptance test of both.
    { ...part('console', ['tests/console/*.test.ts']), ...onSharedStack },
    { ...part('schemathesis', ['tests/schemathesis/*.test.ts']), ...blackBox },
    { ...part('faults', ['tests/faults/**/*.test.ts', prioritized], patientFaults), ...blackBox },
    {
      ...part(
        'faults-patient',
        patientFaults.map((file) => file.slice(1)),
      ),
      ...blackBox,
    },
  ],
};
