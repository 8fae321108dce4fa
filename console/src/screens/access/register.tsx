import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { sendsEmails } from '../../api/features.ts';
import { NarrowCard } from '../../parts/card.tsx';
import { CopyLine } from '../../parts/copy-line.tsx';
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

/** Only these addresses are shown in a line for the shell: in it, no other character has a meaning. */
const plainAddress = /^[\w.+-]+@[\w.-]+$/;

export function Register() {
  const [unverified, setUnverified] = useState<string | null>(null);
  const send = async (values: FormValues) => {
    const text = await register(values);
    setUnverified(values.text('email'));
    return text;
  };
  return (
    <NarrowCard title="Create an account">
      <Form action="Create account" clear send={send}>
        <EmailField />
        <UsernameField hint="3 to 32 letters, digits, dots, dashes and underscores." />
        <NewPasswordField id="password" label="Password" hint={passwordHint} />
        <Checkbox id="terms" label="I accept the terms of this server" required />
      </Form>
      {!sendsEmails && unverified !== null && plainAddress.test(unverified) && (
        <>
          <p class="soft">The operator runs this line in the directory of the server:</p>
          <CopyLine text={`npx tocsin user verify ${unverified}`} label="Copy the line that verifies the address" />
        </>
      )}
      <p class="links">
        <Link href={`/console/login${location.search}`}>Log in</Link>
      </p>
    </NarrowCard>
  );
}
