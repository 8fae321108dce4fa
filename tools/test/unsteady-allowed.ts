export interface AllowedTest {
  /** `tests/faults/x.test.ts › full name`. */
  readonly test: string;
  readonly reason: string;
}

/** The length limit of `unsteadyAllowed`: a longer list hides faults. */
export const unsteadyAllowedMax = 5;

/** Tests that may fail once and pass on the second run without failing the suite. */
export const unsteadyAllowed: readonly AllowedTest[] = [
  {
    test: 'tests/faults/outages.test.ts › an installation with ending servers 400 streams that disconnect together resume at another node with fewer than 50 reads of the store',
    reason: 'a slow store is read more often: 29 to 48 reads on an idle machine, 60 at a load of 17',
  },
  ...[
    'refuses no publish while the MongoDB primary is killed, and resumes with the election',
    'refuses no publish while the MongoDB primary is stepped down, and resumes with the election',
    'refuses no publish while Redis fails over, and resumes with a plain client',
  ].map((name) => ({
    test: `tests/faults/failovers.test.ts › an installation on replicated engines stays ready and ${name}`,
    reason: 'all three failed in one of twenty runs, after the test with a silent Kafka broker; the cause is not known',
  })),
];
