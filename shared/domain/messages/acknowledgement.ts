/** Who acknowledged a message, and when. */
export interface Acknowledgement {
  readonly at: number;
  readonly by: {
    readonly kind: 'account' | 'api_key' | 'topic_token' | 'anonymous' | 'system';
    readonly name: string | null;
  };
  readonly note: string | null;
}
