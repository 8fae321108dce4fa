/** The configured behavior per token; `*` is the default. */
export type Scripts<B> = ReadonlyMap<string, B[]>;

/**
 * Returns the next behavior of the token: a list applies one entry per call; the last one stays. Undefined if not set.
 */
export function nextBehaviour<B>(scripts: Scripts<B>, token: string): B | undefined {
  const behaviours = scripts.get(token) ?? scripts.get('*') ?? [];
  return behaviours.length > 1 ? behaviours.shift() : behaviours[0];
}
