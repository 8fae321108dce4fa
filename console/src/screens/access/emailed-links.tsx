import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { endSession } from '../../api/session.ts';
import { NarrowCard, Note } from '../../parts/card.tsx';
import { Form, type FormValues } from '../../parts/form.tsx';
import { takeFragment } from '../../parts/paths.ts';
import { NewPasswordField, passwordHint } from './fields.tsx';

export const IncompleteLink = () => (
  <Note isBad text="This link is incomplete. Open the complete link that you received." />
);

export function ResetPassword() {
  const [token] = useState(() => takeFragment().get('token'));
  const reset = async (values: FormValues) => {
    if (values.text('password') !== values.text('repeated')) throw new Error('The two passwords differ.');
    const json = { token, new_password: values.text('password') };
    await call('POST', '/auth/password-reset/confirm', { json, isPublic: true });
    return 'Your password is set and all other logins have ended. You can log in now.';
  };
  return (
    <NarrowCard title="Set a new password">
      {token === null ? (
        <IncompleteLink />
      ) : (
        <Form action="Set password" clear send={reset}>
          <NewPasswordField id="password" label="New password" hint={passwordHint} />
          <NewPasswordField id="repeated" label="Repeat password" />
        </Form>
      )}
      <p class="links">
        <Link href="/console/forgot-password">Request a new link</Link>
        <Link href="/console/login">Log in</Link>
      </p>
    </NarrowCard>
  );
}

interface VerifiedAccount {
  readonly username?: string;
  /** Removes the account, for an address whose owner did not create it. */
  readonly removal?: string;
}

/** Returns the content of the cookie that came with the redirect, and removes it. */
function takeVerified(): VerifiedAccount {
  const value = /(?:^|; )tocsin_verified=([A-Za-z0-9_-]+)/.exec(document.cookie)?.[1];
  if (value === undefined) return {};
  document.cookie = 'tocsin_verified=; Max-Age=0; Path=/auth/verified';
  const bytes = Uint8Array.from(atob(value.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as VerifiedAccount;
}

export function Verified() {
  const query = new URLSearchParams(location.search);
  const [{ username, removal }] = useState(takeVerified);
  if (query.get('status') !== 'success') {
    return (
      <NarrowCard title="Not verified">
        <Note isBad text={query.get('message') ?? 'Could not verify the email address.'} />
        <p class="links">
          <Link href="/console/login">Log in</Link>
          <Link href="/console/resend">Request a new link</Link>
        </p>
      </NarrowCard>
    );
  }
  const whose = username === undefined ? '' : ` for the account “${username}”`;
  return (
    <NarrowCard title="Email address verified">
      <Note text={`Your email address is verified${whose}. You can log in now.`} />
      <Link class="button primary wide" href="/console/login">
        Log in
      </Link>
      {username !== undefined && removal !== undefined && <RemoveForeignAccount {...{ username, removal }} />}
    </NarrowCard>
  );
}

function RemoveForeignAccount({ username, removal }: Required<VerifiedAccount>) {
  return (
    <div class="aside">
      <p class="soft">If you did not create the account “{username}”, remove it. This cannot be undone.</p>
      <Form
        action="This was not me: remove the account"
        tone="plain"
        send={async () => {
          await call('POST', '/auth/verify-email/undo', { json: { token: removal }, isPublic: true });
          return `The account “${username}” was removed.`;
        }}
      />
    </div>
  );
}

export function UndoEmailChange() {
  const [token] = useState(() => takeFragment().get('token'));
  const undo = async () => {
    await call('POST', '/auth/email-change/undo', { json: { token }, isPublic: true });
    endSession();
    return 'The email address is restored and all logins have ended. Set a new password with the link that you receive.';
  };
  return (
    <NarrowCard title="Undo the change of your email address">
      {token === null ? (
        <IncompleteLink />
      ) : (
        <>
          <p>
            The address that received this link becomes the email address of the account again, all logins end, and you
            receive a link to set a new password.
          </p>
          <Form action="Undo the change" send={undo} />
        </>
      )}
    </NarrowCard>
  );
}
