/** The document whose tables end with the column `proved by`. */
export const proofsDocument = 'docs/proofs.md';

/**
 * The section for the checks of `docs/security.md`. Some need an installation or one service, so one engine is enough.
 */
export const securitySection = 'Security';
