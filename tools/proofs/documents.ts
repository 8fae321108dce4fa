/** A document whose tables end with the column `proved by`. */
export interface ProvenDocument {
  readonly path: string;
  /** Each row needs a test that runs on both engines, which those of the interface are. */
  readonly onBothEngines: boolean;
}

/** The documents whose rows tests must prove. */
export const provenDocuments: readonly ProvenDocument[] = [
  { path: 'docs/proofs.md', onBothEngines: true },
  { path: 'docs/security.md', onBothEngines: false },
];
