/** The keys that identify the installation to the push services of browsers (RFC 8292), in base64url. */
export interface VapidKeys {
  /** The uncompressed point; browsers subscribe with it. */
  readonly publicKey: string;
  /** Undefined in processes without the notifier, which alone signs. */
  readonly privateKey: string | undefined;
}
