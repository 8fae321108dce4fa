/** One part of the suite: a program that succeeds or fails, or a project of jest.config.js. */
export type Part = {
  name: string;
  /** `needed`: skip the part without engines. `used`: the part skips its own tests without engines. */
  engines?: 'needed' | 'used';
  /** Checks the results of earlier parts; skipped if the run is limited to some test files. */
  checksResults?: boolean;
} & (
  | {
      kind: 'program';
      args: string[];
      /** Runs at the lowest priority, on the CPU time that concurrent tests leave. */
      isLowPriority?: boolean;
    }
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
    { name: 'contracts-embedded', kind: 'jest', project: 'contracts-embedded' },
    { name: 'acceptance-embedded', kind: 'jest', project: 'acceptance', env: onEmbedded, filesPerCore: 5 },
    { name: 'services-embedded', kind: 'jest', project: 'services', env: onEmbedded },
  ],
  [
    { name: 'unit', kind: 'jest', project: 'unit' },
    { name: 'console', kind: 'jest', project: 'console', env: onEmbedded, filesPerCore: 1.5 },
  ],
  // Measure response times: next to other tests, a health check took 2 s instead of 30 ms. They mostly wait for the
  // time-outs of slow sockets.
  [
    { name: 'attacks-embedded', kind: 'jest', project: 'attacks', env: onEmbedded },
    { name: 'attacks-cluster', kind: 'jest', project: 'attacks', env: onCluster, engines: 'needed' },
  ],
  [
    { name: 'contracts-cluster', kind: 'jest', project: 'contracts-cluster', engines: 'needed' },
    { name: 'services-cluster', kind: 'jest', project: 'services', env: onCluster, engines: 'needed' },
    {
      name: 'acceptance-cluster',
      kind: 'jest',
      project: 'acceptance',
      env: onCluster,
      engines: 'needed',
      filesPerCore: 3,
    },
  ],
  // The fault tests mostly wait for leases and elections. The others compute meanwhile.
  [
    { name: 'faults-patient', kind: 'jest', project: 'faults-patient', engines: 'used', filesPerCore: 2.5 },
    { name: 'lint', kind: 'program', args: ['tools/lint.ts'] },
    {
      name: 'types',
      kind: 'program',
      // With one thread, it takes two thirds of the CPU time.
      args: ['node_modules/typescript-7/bin/tsc', '--noEmit', '--singleThreaded'],
      isLowPriority: true,
    },
    {
      name: 'types-console',
      kind: 'program',
      args: ['node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'console'],
      isLowPriority: true,
    },
    // On the cluster, `attacks-cluster` sends random requests.
    { name: 'schemathesis', kind: 'jest', project: 'schemathesis', env: onEmbedded },
  ],
  // Depend on timing. Next to other parts, even of the lowest priority, some of them fail.
  [{ name: 'faults', kind: 'jest', project: 'faults', engines: 'used' }],
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
