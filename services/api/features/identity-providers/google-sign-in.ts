import { AppError, isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { Reply } from '../../http/route.ts';
import { googleProvider, type GoogleProvider } from './google-provider.ts';
import { loginCookie, type BegunLogin, type LoginCookie } from './login-cookie.ts';
import { SignInFailed, type SignInFault } from './sign-in-failed.ts';

/** The shared parts of the two steps of a sign-in with Google. */
export interface GoogleSignIn {
  /** Throws 503 when Google is not configured. */
  provider(): GoogleProvider;
  readonly cookie: LoginCookie;
  /** The redirect URL for Google. */
  readonly redirectUri: string;
}

const callbackPath = '/auth/google/callback';

export function googleSignIn(deps: Pick<ApiDeps, 'baseUrl' | 'clock' | 'config' | 'engine'>): GoogleSignIn {
  const provider = googleProvider(deps.config, deps.clock);
  return {
    provider() {
      if (provider === null) throw new AppError('unavailable', 'Google is not configured');
      return provider;
    },
    cookie: loginCookie({
      name: 'tocsin_google',
      path: '/auth/google',
      baseUrl: deps.baseUrl,
      secrets: deps.engine.jwtSecrets,
      clock: deps.clock,
    }),
    redirectUri: deps.baseUrl + callbackPath,
  };
}

/** The app to which a step redirects. */
export type AppRedirect = Pick<ApiDeps, 'appUrl'> & Pick<BegunLogin, 'appState'>;

/** Redirects to the app with the result in the URL fragment, which never reaches a server or its log. */
export function redirectToApp(deps: AppRedirect, outcome: Readonly<Record<string, string>>): Reply {
  const { appUrl, appState } = deps;
  const fragment = new URLSearchParams({ ...outcome, ...(appState === null ? {} : { app_state: appState }) });
  return { status: 302, headers: { Location: `${appUrl}/auth/callback#${fragment.toString()}` } };
}

/** Runs a step of the sign-in. After a failure, calls `onFault` and redirects to the app with the error. */
export async function orRedirectWithError(
  deps: AppRedirect & Pick<ApiDeps, 'log'>,
  step: () => Promise<Reply>,
  onFault: (fault: SignInFault, error: unknown) => Promise<void> = async () => undefined,
): Promise<Reply> {
  try {
    return await step();
  } catch (error) {
    const fault = await faultOf(error);
    if (fault === 'server_error') deps.log.error({ err: error }, 'sign-in with Google failed because of a bug');
    else if (!(error instanceof SignInFailed))
      deps.log.warn({ reason: reasonOf(error), fault }, 'sign-in with Google failed');
    await onFault(fault, error);
    return redirectToApp(deps, { error: fault });
  }
}

/** Only the error's message and code: other fields of openid-client's errors can contain tokens. */
function reasonOf(error: unknown): { message: string; code: unknown } {
  const { message, code, cause } = error as { message: string; code?: unknown; cause?: { code?: unknown } };
  return { message, code: code ?? cause?.code };
}

async function faultOf(error: unknown): Promise<SignInFault> {
  if (error instanceof SignInFailed) return error.fault;
  if (isUnavailable(error)) return 'temporarily_unavailable';
  const oidc = await import('openid-client');
  if (error instanceof oidc.AuthorizationResponseError)
    return error.error === 'access_denied' ? 'access_denied' : 'invalid_response';
  if (error instanceof oidc.ResponseBodyError) return 'invalid_response';
  if (error instanceof oidc.ClientError) return isAway(error.code) ? 'temporarily_unavailable' : 'invalid_response';
  // The error of fetch without a connection.
  if (error instanceof TypeError && error.message === 'fetch failed') return 'temporarily_unavailable';
  return 'server_error';
}

/** A timeout, or a response that is not the provider's, such as a gateway's error page. */
const isAway = (code: string | undefined): boolean =>
  code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
