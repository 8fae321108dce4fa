/**
 * Whether an ID token was issued to the client: `azp`, if present, names it, and a token with several audiences has
 * `azp` (OpenID Connect Core §3.1.3.7).
 */
export function isIssuedTo(claims: Readonly<Record<string, unknown>>, clientId: string): boolean {
  const { aud, azp } = claims;
  if (azp !== undefined) return azp === clientId;
  return !Array.isArray(aud) || aud.length === 1;
}
