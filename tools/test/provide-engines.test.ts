import { expect, test } from '@jest/globals';
import { provideEngines, type EngineWays } from './provide-engines.ts';

const urls = { KAFKA_BROKERS: 'k:1', MONGO_URL: 'mongodb://m:2', REDIS_URL: 'redis://r:3' };
const started = () => Promise.resolve({ environment: urls, stop: () => Promise.resolve() });
const refused = (reason: string) => () => Promise.reject(new Error(reason));

const ways = (some: Partial<EngineWays>): EngineWays => ({
  givenByEnvironment: () => false,
  inContainers: refused('no container runtime'),
  missingPrograms: () => [],
  asProcesses: refused('no network'),
  ...some,
});

test('given URLs win, and nothing is started', async () => {
  const engines = await provideEngines(
    ways({ givenByEnvironment: () => true, inContainers: refused('must not be asked') }),
  );
  expect(engines).toMatchObject({ kind: 'provided', source: 'the given URLs' });
});

test('containers come before own processes, and are named as the tests look for them', async () => {
  const engines = await provideEngines(ways({ inContainers: started, asProcesses: refused('must not be asked') }));
  expect(engines).toMatchObject({
    source: 'containers',
    environment: { TEST_KAFKA_BROKERS: 'k:1', TEST_MONGO_URL: 'mongodb://m:2', TEST_REDIS_URL: 'redis://r:3' },
  });
});

test('without a container runtime the engines run as processes', async () => {
  expect(await provideEngines(ways({ asProcesses: started }))).toMatchObject({
    kind: 'provided',
    source: 'tools/engines',
  });
});

test('a machine that lacks programs has none, and every reason is told', async () => {
  const engines = await provideEngines(
    ways({ missingPrograms: () => ['java', 'mvn'], asProcesses: refused('must not be asked') }),
  );
  expect(engines).toEqual({
    kind: 'missing',
    reasons: ['no containers: no container runtime', 'not installable here: missing java; mvn'],
  });
});

test('engines that fail to start are missing, not an error', async () => {
  const engines = await provideEngines(ways({}));
  expect(engines).toMatchObject({ kind: 'missing', reasons: [expect.anything(), 'tools/engines failed: no network'] });
});

test('a half-given set of URLs is told and not replaced', async () => {
  const givenByEnvironment = () => {
    throw new Error('missing: TEST_REDIS_URL');
  };
  const engines = await provideEngines(ways({ givenByEnvironment, inContainers: started }));
  expect(engines).toEqual({ kind: 'missing', reasons: ['missing: TEST_REDIS_URL'] });
});
