import { KeyedMutex } from '@tocsin/shared/async/keyed-mutex.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { ApiDeps } from '../api-deps.ts';
import { withinBudgets } from './within-budgets.ts';
import type { RequestContext } from '../http/route.ts';

const minuteMs = 60_000;

/** Prevents guessing passwords over HTTP. Not configurable, but RATE_LIMITS=off disables it with the other limits. */
const failuresPerMinute = 5;

/**
 * The failures of an account over all clients that it does not know: after each limit, the next guess waits longer, so
 * that many addresses guess at most 100 passwords per day.
 */
const failuresPerAccount = [
  { name: 'minute', limit: 10, lengthMs: minuteMs },
  { name: 'hour', limit: 30, lengthMs: 60 * minuteMs },
  { name: 'day', limit: 100, lengthMs: 24 * 60 * minuteMs },
] as const;

const refusal = 'Too many failed logins';

export interface PasswordAttempt {
  readonly email: string;
  /** Whether the account knows the client, so that failures of other clients do not slow it down. */
  readonly isKnownClient: boolean;
  readonly check: () => Promise<boolean>;
}

/** Runs a password check and refuses further checks after too many failures. */
export type PasswordAttempts = (context: RequestContext, attempt: PasswordAttempt) => Promise<boolean>;

/**
 * Throws `limited` `Too many failed logins` if five checks for the email from this client's address have failed within
 * a minute, or too many from all unknown clients. Checks of one pair, and those of unknown clients, run sequentially on
 * a node, and each uses one of the attempts while it runs, so that concurrent guesses get no more results.
 */
export function passwordAttempts(deps: Pick<ApiDeps, 'clock' | 'config' | 'engine'>): PasswordAttempts {
  const turns = new KeyedMutex();
  return async (context, { email, isKnownClient, check }) => {
    if (!deps.config.RATE_LIMITS) return check();
    const pair = keyOf(`${email} ${context.address}`);
    const ofPair = [{ key: pair, limit: failuresPerMinute, span: { lengthMs: minuteMs } }];
    const sets = isKnownClient ? [ofPair] : [ofPair, windowsOfAccount(email)];
    return turns.run(isKnownClient ? pair : keyOf(email), () =>
      withinBudgets(deps, { sets, detail: refusal, isCounted: (isRight) => !isRight }, check),
    );
  };
}

const keyOf = (holder: string): string => `failed-login:{${hashSecret(holder)}}`;

function windowsOfAccount(email: string): BudgetWindow[] {
  const key = keyOf(email);
  return failuresPerAccount.map(({ name, limit, lengthMs }) => ({ key: `${key}:${name}`, limit, span: { lengthMs } }));
}
