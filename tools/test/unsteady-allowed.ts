export interface AllowedTest {
  /** `tests/faults/x.test.ts › full name`. */
  readonly test: string;
  readonly reason: string;
}

/** The length limit of `unsteadyAllowed`: a longer list hides faults. */
export const unsteadyAllowedMax = 5;

/** Tests that may fail once and pass on the second run without failing the suite. */
export const unsteadyAllowed: readonly AllowedTest[] = [];
