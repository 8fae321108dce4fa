/** One part of the suite: a program that succeeds or fails, or a project of jest.config.js. */
export type Part = {
  name: string;
  /** `needed`: skip the part without engines. `used`: the part skips its own tests without engines. */
  engines?: 'needed' | 'used';
  /** Checks the results of earlier parts; skipped if the run is limited to some test files. */
  checksResults?: boolean;
  /** Runs at the lowest priority, on the CPU time that concurrent tests leave. */
  isLowPriority?: boolean;
} & (
  | { kind: 'program'; args: string[] }
  | {
      kind: 'jest';
      project: string;
      env?: Record<string, string>;
      /**
       * Test files that run concurrently per core; default 1. Higher if tests mostly wait for leases, locks or brokers.
       */
      filesPerCore?: number;
    }
);

const onEmbedded = { TOCSIN_ENGINE: 'embedded' };
const onCluster = { TOCSIN_ENGINE: 'cluster' };

/**
 * All parts in order, those without requirements first. The parts of a group run concurrently, so that some compute
 * while others wait. A part that depends on timing is a group of its own.
 */
export const groups: readonly (readonly Part[])[] = [
  [
    { name: 'types', kind: 'program', args: ['node_modules/typescript-7/bin/tsc', '--noEmit'] },
    { name: 'contracts-embedded', kind: 'jest', project: 'contracts-embedded' },
    { name: 'acceptance-embedded', kind: 'jest', project: 'acceptance', env: onEmbedded, filesPerCore: 2 },
    { name: 'services-embedded', kind: 'jest', project: 'services', env: onEmbedded },
    { name: 'schemathesis-embedded', kind: 'jest', project: 'schemathesis', env: onEmbedded },
    {
      name: 'types-console',
      kind: 'program',
      args: ['node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'console'],
    },
  ],
  // Starts many threads and processes, some of which have time limits.
  [{ name: 'unit', kind: 'jest', project: 'unit', filesPerCore: 1.5 }],
  // Chromium takes both cores.
  [{ name: 'console', kind: 'jest', project: 'console', env: onEmbedded, filesPerCore: 1.5 }],
  // Measures response times. Next to other tests, a health check took 2 s instead of 30 ms.
  [{ name: 'attacks-embedded', kind: 'jest', project: 'attacks', env: onEmbedded }],
  [{ name: 'attacks-cluster', kind: 'jest', project: 'attacks', env: onCluster, engines: 'needed' }],
  // With the next group in this one, tests with time limits failed.
  [
    { name: 'contracts-cluster', kind: 'jest', project: 'contracts-cluster', engines: 'needed', filesPerCore: 1.5 },
    { name: 'services-cluster', kind: 'jest', project: 'services', env: onCluster, engines: 'needed' },
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
    { name: 'lint', kind: 'program', args: ['tools/test/lint.ts'], isLowPriority: true },
  ],
  // Depend on timing and start their own engines per file: one file at a time. Even parts of the lowest priority made
  // some of them fail.
  [{ name: 'faults', kind: 'jest', project: 'faults', engines: 'used', filesPerCore: 0.5 }],
  [{ name: 'proofs', kind: 'program', args: ['tools/proofs/check-proofs.ts'], checksResults: true }],
];

export const parts: readonly Part[] = groups.flat();

/** Returns the groups limited to the named parts, or all groups if no name is given. Throws for an unknown name. */
export const groupsNamed = (names: string[]): Part[][] => {
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    throw new Error(`No part is called ${unknown.join(', ')}. The parts: ${parts.map(({ name }) => name).join(', ')}`);
  }
  return groups
    .map((group) => group.filter(({ name }) => names.length === 0 || names.includes(name)))
    .filter(({ length }) => length > 0);
};
