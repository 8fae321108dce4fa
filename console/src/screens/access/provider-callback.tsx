import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { endProviderLogin, keepSession } from '../../api/session.ts';
import { NarrowCard, Note } from '../../parts/card.tsx';
import { homePath, takeFragment } from '../../parts/paths.ts';

/** Stores the tokens of a login that this tab began. Returns the reason if that failed, otherwise null. */
function acceptTokens(): string | null {
  const values = takeFragment();
  const isOurs = endProviderLogin(values.get('app_state'));
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  if (access_token === null || refresh_token === null)
    return `The login with the provider failed: ${values.get('error') ?? 'no tokens received'}`;
  if (!isOurs) return 'This login did not begin in this tab. Log in again.';
  keepSession({ access_token, refresh_token, user: null });
  return null;
}

/** The target of the redirect after a Google login, with tokens or an error code in the fragment. */
export function ProviderCallback() {
  const [, navigate] = useLocation();
  const [failure] = useState(acceptTokens);
  useEffect(() => {
    if (failure === null) navigate(homePath, { replace: true });
  }, [failure, navigate]);
  if (failure === null) return <p role="status">Logging in …</p>;
  return (
    <NarrowCard title="Login failed">
      <Note isBad text={failure} />
      <p class="links">
        <Link href="/console/login">Log in</Link>
      </p>
    </NarrowCard>
  );
}
