import { call } from '../../api/call.ts';
import { keepSession, session } from '../../api/session.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { completeTime } from '../../parts/time/times.ts';
import { UsernameField } from '../access/fields.tsx';

/** `GET /auth/me`. */
export interface Me {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly subscription_tier: string;
  readonly is_verified: boolean;
  readonly created_at: string;
  readonly last_login: string | null;
  readonly oauth_provider: string | null;
  readonly terms_accepted_at: string | null;
}

interface ProfileProps {
  readonly me: Me;
  readonly onChanged: () => Promise<void>;
}

export function Profile({ me, onChanged }: ProfileProps) {
  const save = async (values: FormValues) => {
    const [username, email, password] = ['username', 'email', 'email_password'].map((name) => values.text(name));
    const json = {
      ...(username === me.username ? {} : { username }),
      ...(email === me.email ? {} : { email }),
      ...(password === '' ? {} : { current_password: password }),
    };
    const changed = await call<Me>('PATCH', '/api/users/me', { json });
    if (session.value !== null) keepSession({ ...session.value, user: changed });
    await onChanged();
    return email === me.email ? 'Saved.' : `Saved. Follow the link in the email to ${email}.`;
  };
  return (
    <Section title="Profile">
      <dl class="facts">
        <Fact name="Tier" value={me.subscription_tier} />
        <Fact name="Member since" value={completeTime(me.created_at)} />
        <Fact name="Log in with" value={me.oauth_provider ?? 'Email and password'} />
      </dl>
      <Form action="Save" send={save}>
        <div class="columns">
          <UsernameField defaultValue={me.username} />
          <Field id="email" label="Email" type="email" required autocomplete="email" defaultValue={me.email} />
        </div>
        <Field
          id="email_password"
          label="Password to confirm"
          type="password"
          autocomplete="current-password"
          hint="Only for a new email address, unless you logged in within the last 10 minutes."
        />
      </Form>
    </Section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
