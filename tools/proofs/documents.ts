/** A document whose tables end with the column `proved by`. */
export interface ProvenDocument {
  readonly path: string;
  /** Whether each row needs a test that runs on both engines, as in documents about the interface. */
  readonly onBothEngines: boolean;
}

/** The documents whose rows tests must prove. */
export const provenDocuments: readonly ProvenDocument[] = [
  { path: 'docs/proofs.md', onBothEngines: true },
  { path: 'docs/security.md', onBothEngines: false },
];
