import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { sendsEmails } from '../../api/features.ts';
import { NarrowCard } from '../../parts/card.tsx';
import { Form } from '../../parts/form.tsx';
import { EmailField } from './fields.tsx';

interface RequestLinkProps {
  readonly title: string;
  readonly text: string;
  readonly path: string;
}

/** Requests an emailed link. The result does not reveal whether the account exists. */
function RequestLink({ title, text, path }: RequestLinkProps) {
  return (
    <NarrowCard title={title}>
      <p class="soft">
        {!sendsEmails && 'This server does not send emails. Request a link here, then ask the operator for it. '}
        {text}
      </p>
      <Form
        action="Request link"
        send={async (values) => {
          await call('POST', path, { json: { email: values.text('email') }, isPublic: true });
          return sendsEmails
            ? 'If an account with this address exists, it receives an email.'
            : 'If an account with this address exists, a link was created. Ask the operator of this server for it.';
        }}
      >
        <EmailField />
      </Form>
      <p class="links">
        <Link href="/console/login">Log in</Link>
      </p>
    </NarrowCard>
  );
}

export const ForgotPassword = () => (
  <RequestLink
    title="Forgot your password?"
    text={`${sendsEmails ? 'You receive an email with a link to set a new password. ' : ''}The link is valid for one hour.`}
    path="/auth/password-reset/request"
  />
);

export const ResendVerification = () => (
  <RequestLink
    title="Verify your email address"
    text={`${sendsEmails ? 'You receive a new verification email. ' : ''}Earlier links become invalid.`}
    path="/auth/resend-verification"
  />
);
