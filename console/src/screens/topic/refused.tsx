import { Link } from 'wouter-preact';
import { CallFailed } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import { Note } from '../../parts/card.tsx';
import { ErrorState } from '../../parts/loading.tsx';
import { homePath, loginPath } from '../../parts/paths.ts';

interface RefusedProps {
  readonly error: Error;
  readonly retry: () => Promise<void>;
}

/** Why a topic cannot be shown, and where to go instead. Other errors can be retried. */
export function Refused({ error, retry }: RefusedProps) {
  if (!(error instanceof CallFailed) || ![401, 403, 404].includes(error.status))
    return <ErrorState error={error} retry={retry} />;
  const needsLogin = session.value === null && error.status !== 404;
  return (
    <>
      <Note isBad text={error.message} />
      <p class="links">
        {needsLogin && <Link href={loginPath()}>Log in</Link>}
        <Link href={homePath}>Home</Link>
      </p>
    </>
  );
}
