import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import type { Team } from '../../api/wire.ts';
import { NarrowCard } from '../../parts/card.tsx';
import { Form } from '../../parts/form.tsx';
import { homePath, loginPath, takeFragment, teamPath } from '../../parts/paths.ts';
import { loadInbox } from '../../state/inbox.ts';
import { IncompleteLink } from './emailed-links.tsx';

const storedAs = 'tocsin.invite';

/** Returns the invite token. The tab keeps it while the user logs in. */
function takeInvite(): string | null {
  const token = takeFragment().get('token') ?? sessionStorage.getItem(storedAs);
  if (token !== null) sessionStorage.setItem(storedAs, token);
  return token;
}

export function AcceptInvite() {
  const [token] = useState(takeInvite);
  return (
    <NarrowCard title="Join a team">
      {token === null ? <IncompleteLink /> : session.value === null ? <LogInFirst /> : <Accept token={token} />}
    </NarrowCard>
  );
}

function LogInFirst() {
  return (
    <>
      <p>You are invited to a team. Log in with the invited email address.</p>
      <p class="links">
        <Link href={loginPath()}>Log in</Link>
        <Link href={`/console/register?next=${encodeURIComponent('/auth/accept-invite')}`}>Create an account</Link>
      </p>
    </>
  );
}

function Accept({ token }: { readonly token: string }) {
  const email = session.value?.user?.email;
  const [joined, setJoined] = useState<Team | null>(null);
  const accept = async () => {
    setJoined(await call<Team>('POST', '/api/teams/invites/accept', { json: { token } }));
    sessionStorage.removeItem(storedAs);
    // The pages load what they show; the navigation can wait for the next refresh.
    await loadInbox().catch(() => undefined);
  };
  if (joined !== null)
    return (
      <>
        <p class="note good" role="status">
          You are now a member of <bdi>{joined.display_name}</bdi>.
        </p>
        <p class="links">
          <Link href={teamPath(joined.id)}>Open the team</Link>
          <Link href={homePath}>Home</Link>
        </p>
      </>
    );
  return (
    <>
      {email !== undefined && <p>You are logged in as {email}.</p>}
      <Form action="Accept invite" send={accept} />
      <p class="links">
        <Link href={homePath}>Home</Link>
      </p>
    </>
  );
}
