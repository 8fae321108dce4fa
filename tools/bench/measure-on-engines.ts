import type { BenchEngines } from './start-tocsin.ts';
import { useEngines } from './use-engines.ts';

/** The values of the option `--engine`. */
export const engineChoices: readonly string[] = ['embedded', 'cluster', 'both'];

const digits = 4;

/** Measures on the chosen engines, one after the other, and prints a line of JSON for each. */
export async function measureOnEngines(
  choice: string,
  measure: (engines: BenchEngines | undefined) => Promise<object>,
): Promise<void> {
  const run = async (engines: BenchEngines | undefined) => {
    const figures = JSON.stringify(await measure(engines), (_, value: unknown) =>
      typeof value === 'number' ? Number(value.toPrecision(digits)) : value,
    );
    process.stdout.write(`${figures}\n`);
  };
  if (choice !== 'cluster') await run(undefined);
  if (choice !== 'embedded') await useEngines(run);
}
