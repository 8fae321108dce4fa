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

test('uses given URLs and starts nothing', async () => {
  const engines = await provideEngines(
    ways({ givenByEnvironment: () => true, inContainers: refused('must not be called') }),
  );
  expect(engines).toMatchObject({ kind: 'provided', source: 'the given URLs' });
});

test('prefers containers to processes and names them in the test environment', async () => {
  const engines = await provideEngines(ways({ inContainers: started, asProcesses: refused('must not be called') }));
  expect(engines).toMatchObject({
    source: 'containers',
    environment: { TEST_KAFKA_BROKERS: 'k:1', TEST_MONGO_URL: 'mongodb://m:2', TEST_REDIS_URL: 'redis://r:3' },
  });
});

test('runs engines as processes without a container runtime', async () => {
  expect(await provideEngines(ways({ asProcesses: started }))).toMatchObject({
    kind: 'provided',
    source: 'tools/engines',
  });
});

test('reports every reason if programs are missing', async () => {
  const engines = await provideEngines(
    ways({ missingPrograms: () => ['java', 'mvn'], asProcesses: refused('must not be called') }),
  );
  expect(engines).toEqual({
    kind: 'missing',
    reasons: ['no containers: no container runtime', 'cannot be installed: missing java; mvn'],
  });
});

test('reports engines that fail to start as missing', async () => {
  const engines = await provideEngines(ways({}));
  expect(engines).toMatchObject({ kind: 'missing', reasons: [expect.anything(), 'tools/engines failed: no network'] });
});

test('reports an incomplete set of URLs instead of replacing it', async () => {
  const givenByEnvironment = () => {
    throw new Error('missing: TEST_REDIS_URL');
  };
  const engines = await provideEngines(ways({ givenByEnvironment, inContainers: started }));
  expect(engines).toEqual({ kind: 'missing', reasons: ['missing: TEST_REDIS_URL'] });
});
