import { Link, Redirect } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { hasGoogleLogin } from '../../api/features.ts';
import { beginProviderLogin, keepSession, session, type Session } from '../../api/session.ts';
import { NarrowCard } from '../../parts/card.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { homePath, nextPath } from '../../parts/paths.ts';
import { EmailField } from './fields.tsx';

export function LogIn() {
  const next = nextPath();
  const query = next === homePath ? '' : `?next=${encodeURIComponent(next)}`;
  // Logged in here or in another tab.
  if (session.value !== null) return <Redirect to={next} replace />;
  return (
    <NarrowCard title="Log in">
      <Form
        action="Log in"
        send={async (values) => {
          const json = { email: values.text('email'), password: values.text('password') };
          keepSession(await call<Session>('POST', '/auth/login', { json, isPublic: true }));
        }}
      >
        <EmailField />
        <Field id="password" label="Password" type="password" required autocomplete="current-password" />
      </Form>
      {hasGoogleLogin && (
        <>
          <div class="or">or</div>
          <Form
            action="Log in with Google"
            tone="plain"
            send={() => location.assign(`/auth/google/login?app_state=${beginProviderLogin()}`)}
          />
        </>
      )}
      <p class="links">
        <Link href={`/console/register${query}`}>Create an account</Link>
        <Link href="/console/forgot-password">Forgot your password?</Link>
        <Link href="/console/resend">Resend the verification link</Link>
      </p>
    </NarrowCard>
  );
}
