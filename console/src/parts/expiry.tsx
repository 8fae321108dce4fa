import { useState } from 'preact/hooks';
import { Field, Select, type FormValues } from './form.tsx';
import { completeTime } from './time/times.ts';

const onDate = 'date';
const dayMs = 86_400_000;

/** When a new key or token expires. */
export function ExpiryFields() {
  const [choice, setChoice] = useState('0');
  return (
    <>
      <Select
        id="expires_after"
        label="Expires"
        onChange={setChoice}
        options={[
          ['0', 'Never'],
          ['30', 'After 30 days'],
          ['90', 'After 90 days'],
          ['365', 'After a year'],
          [onDate, 'At the end of a day …'],
        ]}
      />
      {choice === onDate && <Field id="expires_on" label="Last day" type="date" required />}
    </>
  );
}

/** The field of the request that creates the key or token; none if it does not expire. */
export function expiryOf(values: FormValues): { readonly expires_at?: string } {
  const choice = values.text('expires_after');
  if (choice === '0') return {};
  const at =
    choice === onDate ? Date.parse(`${values.text('expires_on')}T23:59:59`) : Date.now() + Number(choice) * dayMs;
  return { expires_at: new Date(at).toISOString() };
}

export function expiryText(expiresAt: string | null): string {
  if (expiresAt === null) return 'does not expire';
  return `${Date.parse(expiresAt) <= Date.now() ? 'expired' : 'expires'} ${completeTime(expiresAt)}`;
}
