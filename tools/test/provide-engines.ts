import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { missingPrograms } from '../engines/missing-programs.ts';
import { environmentOf, startEngines } from '../engines/start-engines.ts';
import { startContainerEngines } from './start-container-engines.ts';

/** Engines for the tests, or the reasons for their absence. */
export type ProvidedEngines =
  | { kind: 'provided'; source: string; environment: Record<string, string>; stop: () => Promise<void> }
  | { kind: 'missing'; reasons: string[] };

type Started = { environment: Record<string, string>; stop: () => Promise<void> };

/** The sources of engines, injectable for tests. */
export type EngineWays = {
  givenByEnvironment: () => boolean;
  inContainers: () => Promise<Started>;
  missingPrograms: () => string[];
  asProcesses: () => Promise<Started>;
};

/**
 * Returns the engines that the environment names, else containers, else processes of tools/engines. Never throws: the
 * result contains the reason of each failed source. `environment` has the variables that the tests read.
 */
export const provideEngines = async (ways: EngineWays = thisMachine): Promise<ProvidedEngines> => {
  const reasons: string[] = [];
  try {
    if (ways.givenByEnvironment())
      return provided('the given URLs', { environment: {}, stop: () => Promise.resolve() });
  } catch (error) {
    // An incomplete set is a mistake, so report it instead of replacing it silently.
    return { kind: 'missing', reasons: [reasonOf(error)] };
  }
  try {
    return provided('containers', await ways.inContainers());
  } catch (error) {
    reasons.push(`no containers: ${reasonOf(error)}`);
  }
  const missing = ways.missingPrograms();
  if (missing.length > 0)
    return { kind: 'missing', reasons: [...reasons, `cannot be installed: missing ${missing.join('; ')}`] };
  try {
    return provided('tools/engines', await ways.asProcesses());
  } catch (error) {
    return { kind: 'missing', reasons: [...reasons, `tools/engines failed: ${reasonOf(error)}`] };
  }
};

const provided = (source: string, { environment, stop }: Started): ProvidedEngines => ({
  kind: 'provided',
  source,
  environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [`TEST_${name}`, value])),
  stop,
});

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const thisMachine: EngineWays = {
  givenByEnvironment: () => readTestEngines() !== undefined,
  inContainers: startContainerEngines,
  missingPrograms,
  asProcesses: async () => {
    const engines = await startEngines();
    return { environment: environmentOf(engines), stop: engines.stop };
  },
};
