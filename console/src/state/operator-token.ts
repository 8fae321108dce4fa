import { signal } from '@preact/signals';

/** Session storage key of the operator's token: limited to this tab and origin, never part of a URL. */
const storedAs = 'tocsin.operator';

/** Null until the operator enters the token. Change it with `keepOperatorToken`. */
export const operatorToken = signal<string | null>(sessionStorage.getItem(storedAs));

/** Null removes the token. */
export function keepOperatorToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(storedAs);
  else sessionStorage.setItem(storedAs, token);
  operatorToken.value = token;
}
