/** One part of the suite: a program that succeeds or fails, or a project of jest.config.js. */
export type Part = {
  name: string;
  /** A part that needs the engines is left out where there are none; one that uses them skips its tests by itself. */
  engines?: 'needed' | 'used';
  /** It judges the results of the parts before it, so it is left out when a run is of some test files only. */
  judgesResults?: boolean;
  /** It lets everything else on the machine go first, so that it takes nothing from the part beside it that judges by the clock. */
  givesWay?: boolean;
} & (
  | { kind: 'program'; args: string[] }
  | {
      kind: 'jest';
      project: string;
      env?: Record<string, string>;
      /**
       * How many test files run at once for each core; 1 when it does not say. More where most of the time is spent waiting
       * for what a killed process held, for a lease or for a broker.
       */
      filesPerCore?: number;
    }
);

const onEmbedded = { TOCSIN_ENGINE: 'embedded' };
const onCluster = { TOCSIN_ENGINE: 'cluster' };

/**
 * All parts in the order in which they run: what is quick and needs nothing comes first. The parts of a group run side by
 * side: one that mostly waits beside one that computes. A part that fills the machine by itself is a group of its own; one
 * that judges by the clock has only such beside it that give way.
 */
export const groups: readonly (readonly Part[])[] = [
  [
    { name: 'types', kind: 'program', args: ['node_modules/typescript-7/bin/tsc', '--noEmit'] },
    { name: 'contracts-embedded', kind: 'jest', project: 'contracts-embedded' },
    { name: 'acceptance-embedded', kind: 'jest', project: 'acceptance', env: onEmbedded, filesPerCore: 2.5 },
  ],
  [
    { name: 'contracts-cluster', kind: 'jest', project: 'contracts-cluster', engines: 'needed', filesPerCore: 1.5 },
    {
      name: 'services-cluster',
      kind: 'jest',
      project: 'services',
      env: onCluster,
      engines: 'needed',
      filesPerCore: 1.5,
    },
  ],
  [
    {
      name: 'acceptance-cluster',
      kind: 'jest',
      project: 'acceptance',
      env: onCluster,
      engines: 'needed',
      filesPerCore: 1.5,
    },
  ],
  [
    { name: 'schemathesis-cluster', kind: 'jest', project: 'schemathesis', env: onCluster, engines: 'needed' },
    { name: 'faults-patient', kind: 'jest', project: 'faults-patient', engines: 'used', filesPerCore: 1.5 },
  ],
  [
    // They judge by the clock, and have engines of their own for each file: one at a time.
    { name: 'faults', kind: 'jest', project: 'faults', engines: 'used', filesPerCore: 0.5 },
    { name: 'lint', kind: 'program', args: ['tools/test/lint.ts'], givesWay: true },
    { name: 'unit', kind: 'jest', project: 'unit', givesWay: true },
    { name: 'services-embedded', kind: 'jest', project: 'services', env: onEmbedded, givesWay: true },
    { name: 'schemathesis-embedded', kind: 'jest', project: 'schemathesis', env: onEmbedded, givesWay: true },
  ],
  [{ name: 'proofs', kind: 'program', args: ['tools/proofs/check-proofs.ts'], judgesResults: true }],
];

export const parts: readonly Part[] = groups.flat();

/** The groups with the parts of these names alone, in the suite's order; all of them for no name. Throws for a name that is none. */
export const groupsNamed = (names: string[]): Part[][] => {
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    throw new Error(`No part is called ${unknown.join(', ')}. The parts: ${parts.map(({ name }) => name).join(', ')}`);
  }
  return groups
    .map((group) => group.filter(({ name }) => names.length === 0 || names.includes(name)))
    .filter(({ length }) => length > 0);
};
