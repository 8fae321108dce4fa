import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { sendsEmails } from '../../api/features.ts';
import { NarrowCard } from '../../parts/card.tsx';
import { Checkbox, Form, type FormValues } from '../../parts/form.tsx';
import { EmailField, NewPasswordField, passwordHint, UsernameField } from './fields.tsx';

async function register(values: FormValues): Promise<string> {
  const email = values.text('email');
  const json = {
    email,
    username: values.text('username'),
    password: values.text('password'),
    terms_accepted: values.isChecked('terms'),
  };
  await call('POST', '/auth/register', { json, isPublic: true });
  return sendsEmails
    ? `Account created. Follow the link in the email to ${email}, then log in.`
    : `Account created. This server does not send emails. Ask its operator to verify ${email}, then log in.`;
}

export function Register() {
  return (
    <NarrowCard title="Create an account">
      <Form action="Create account" clear send={register}>
        <EmailField />
        <UsernameField hint="3 to 32 letters, digits, dots, dashes and underscores." />
        <NewPasswordField id="password" label="Password" hint={passwordHint} />
        <Checkbox id="terms" label="I accept the terms of this server" required />
      </Form>
      <p class="links">
        <Link href={`/console/login${location.search}`}>Log in</Link>
      </p>
    </NarrowCard>
  );
}
