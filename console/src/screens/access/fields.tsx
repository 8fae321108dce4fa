import { Field } from '../../parts/form.tsx';

export function EmailField() {
  return <Field id="email" label="Email" type="email" required autocomplete="email" maxLength={254} />;
}

interface UsernameProps {
  readonly defaultValue?: string;
  readonly hint?: string;
}

export function UsernameField(props: UsernameProps) {
  return (
    <Field id="username" label="Username" required autocomplete="username" pattern="[A-Za-z0-9_.\-]{3,32}" {...props} />
  );
}

interface NewPasswordProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

export function NewPasswordField(props: NewPasswordProps) {
  return <Field type="password" required autocomplete="new-password" minLength={8} {...props} />;
}

export const passwordHint = 'At least 8 characters.';
