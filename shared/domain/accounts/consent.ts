/** An account's acceptance of a document. Times are milliseconds since the epoch. */
export interface Consent {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly consentType: 'tos';
  /** The version of the document that was accepted (TERMS_VERSION). */
  readonly documentVersion: string;
  readonly acceptedAt: number;
  /** The method of consent, such as `web_checkbox`. */
  readonly consentMethod: string;
  /** False after the account accepted again. */
  readonly isActive: boolean;
}
