import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { missingPrograms } from '../engines/missing-programs.ts';
import { environmentOf, startEngines } from '../engines/start-engines.ts';
import { startContainerEngines } from './start-container-engines.ts';

/** Engines for the tests, or why there are none. */
export type ProvidedEngines =
  | { kind: 'provided'; source: string; environment: Record<string, string>; stop: () => Promise<void> }
  | { kind: 'missing'; reasons: string[] };

type Started = { environment: Record<string, string>; stop: () => Promise<void> };

/** The ways to engines, so that the choice between them can be tested without any. */
export type EngineWays = {
  givenByEnvironment: () => boolean;
  inContainers: () => Promise<Started>;
  missingPrograms: () => string[];
  asProcesses: () => Promise<Started>;
};

/**
 * The engines that the environment names; else containers; else processes of tools/engines. Never throws: a way that
 * fails is told as a reason and the next one is tried. `environment` names them as the tests look for them.
 */
export const provideEngines = async (ways: EngineWays = thisMachine): Promise<ProvidedEngines> => {
  const reasons: string[] = [];
  try {
    if (ways.givenByEnvironment())
      return provided('the given URLs', { environment: {}, stop: () => Promise.resolve() });
  } catch (error) {
    // A half-given set is a mistake to be shown, not to be replaced in silence.
    return { kind: 'missing', reasons: [reasonOf(error)] };
  }
  try {
    return provided('containers', await ways.inContainers());
  } catch (error) {
    reasons.push(`no containers: ${reasonOf(error)}`);
  }
  const missing = ways.missingPrograms();
  if (missing.length > 0)
    return { kind: 'missing', reasons: [...reasons, `not installable here: missing ${missing.join('; ')}`] };
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
