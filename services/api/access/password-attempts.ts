import { LimitReached } from '@tocsin/shared/domain/errors.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { ApiDeps } from '../api-deps.ts';
import { windowsTaken } from '../http/rate-limit.ts';
import type { RequestContext } from '../http/route.ts';

/** Prevents guessing passwords over HTTP. Not configurable, but RATE_LIMITS=off disables it with the other limits. */
const failuresPerMinute = 5;

/** Runs a password check and refuses further checks for the email from this client after five failures. */
export type PasswordAttempts = (
  context: RequestContext,
  email: string,
  check: () => Promise<boolean>,
) => Promise<boolean>;

/**
 * Throws `limited` `Too many failed logins` if five checks for the email from this client's address have failed
 * within a minute. Checks of one pair run sequentially on a node, and each uses one of the five while it runs, so
 * that concurrent guesses get at most five results.
 */
export function passwordAttempts(deps: Pick<ApiDeps, 'clock' | 'config' | 'engine'>): PasswordAttempts {
  const turns = new Map<string, Promise<unknown>>();
  return async (context, email, check) => {
    if (!deps.config.RATE_LIMITS) return check();
    const key = `failed-login:{${hashSecret(`${email} ${context.address}`)}}`;
    const turn = (turns.get(key) ?? Promise.resolve()).then(() => attempt(deps, { key, check }));
    const settled = turn.catch(() => undefined);
    turns.set(key, settled);
    try {
      return await turn;
    } finally {
      if (turns.get(key) === settled) turns.delete(key);
    }
  };
}

async function attempt(
  deps: Pick<ApiDeps, 'clock' | 'engine'>,
  of: { key: string; check: () => Promise<boolean> },
): Promise<boolean> {
  const { bus } = deps.engine;
  const windows: BudgetWindow[] = [{ key: of.key, limit: failuresPerMinute, span: { lengthMs: 60_000 } }];
  const now = deps.clock();
  const state = await bus.takeBudget(windows, now);
  if (!state.accepted)
    throw new LimitReached(
      'Too many failed logins',
      { limit: failuresPerMinute, resetAt: state.windows[0]!.resetAt },
      now,
    );
  let hasFailed = false;
  try {
    const isRight = await of.check();
    hasFailed = !isRight;
    return isRight;
  } finally {
    if (!hasFailed) await bus.refundBudget(windowsTaken({ windows, state }), deps.clock());
  }
}
