import { call } from '../../api/call.ts';
import { keepSession, type Session } from '../../api/session.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { NewPasswordField, passwordHint } from '../access/fields.tsx';
import type { Me } from './profile.tsx';

async function change(values: FormValues): Promise<string> {
  const json = { current_password: values.text('current_password'), new_password: values.text('new_password') };
  const { access_token, refresh_token } = await call<Session>('POST', '/auth/password-change', { json });
  keepSession({ access_token, refresh_token });
  return 'Your password is changed and all other logins have ended.';
}

export function Password({ me }: { readonly me: Me }) {
  return (
    <Section title="Password">
      {me.oauth_provider !== null && (
        <p class="soft">
          The account was created with {me.oauth_provider}. If it has no password, set one with “Forgot your password?”
          on the login page.
        </p>
      )}
      <Form action="Change password" clear send={change}>
        <div class="columns">
          <Field
            id="current_password"
            label="Current password"
            type="password"
            required
            autocomplete="current-password"
          />
          <NewPasswordField id="new_password" label="New password" hint={passwordHint} />
        </div>
      </Form>
    </Section>
  );
}
