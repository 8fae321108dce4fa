import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { call, download } from '../../api/call.ts';
import { endSession } from '../../api/session.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { toast, toastError } from '../../parts/toasts.tsx';
import type { Me } from './profile.tsx';

export function PersonalData({ me }: { readonly me: Me }) {
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    await download('/api/users/me/data', `tocsin-${me.username}.json`).then(
      () => toast('Your data is downloaded.'),
      toastError,
    );
    setBusy(false);
  };
  return (
    <>
      <Section title="Your data" hint="Everything that this server stores about your account, as one JSON file.">
        <button type="button" class="button" disabled={isBusy} onClick={() => void save()}>
          {isBusy ? 'Downloading …' : 'Download my data'}
        </button>
      </Section>
      <DeleteAccount me={me} />
    </>
  );
}

function DeleteAccount({ me }: { readonly me: Me }) {
  const [, navigate] = useLocation();
  const remove = async (values: FormValues) => {
    if (values.text('confirmation') !== me.username) throw new Error(`Enter ${me.username} to confirm.`);
    await call('DELETE', '/api/users/me', { json: { password: values.text('delete_password') } });
    endSession();
    navigate('/console/login', { replace: true });
    toast('Your account is deleted.');
  };
  return (
    <Section
      title="Delete the account"
      hint="Deletes the account with its topics, messages, devices and keys. This cannot be undone."
    >
      <details class="danger">
        <summary>Delete my account …</summary>
        <Form action="Delete my account" tone="danger" send={remove}>
          <div class="columns">
            <Field id="confirmation" label={`Enter ${me.username}`} required autocomplete="off" />
            <Field
              id="delete_password"
              label="Your password"
              type="password"
              required
              autocomplete="current-password"
            />
          </div>
        </Form>
      </details>
    </Section>
  );
}
