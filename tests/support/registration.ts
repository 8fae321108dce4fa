import { randomBytes } from 'node:crypto';
import { mailedLink } from './mailbox.ts';
import { Client, type Answer } from './stack.ts';

/** The fields of the registration form. */
export interface Registration {
  readonly email: string;
  readonly username: string;
  readonly password: string;
  readonly terms_accepted: boolean;
}

export function newRegistration(fields: Partial<Registration> = {}): Registration {
  const username = `reg-${randomBytes(6).toString('hex')}`;
  return {
    email: `${username}@example.org`,
    username,
    password: `secret of ${username}`,
    terms_accepted: true,
    ...fields,
  };
}

/** Registers an account, which is then unverified. Throws if the registration fails. */
export async function register(registration: Registration): Promise<void> {
  const { status, body } = await new Client().call('POST', '/auth/register', { json: registration });
  if (status !== 201) throw new Error(`register: ${status} ${JSON.stringify(body)}`);
}

/** Two people register one address. */
export async function twoRegistrations() {
  const first = newRegistration();
  const second = newRegistration({ email: first.email });
  await register(first);
  const firstLink = await mailedLink(first.email, 'verify-email');
  await register(second);
  return { first, second, firstLink, secondLink: await mailedLink(first.email, 'verify-email', 2) };
}

/** The status to which a verification link redirects. */
export function verificationOf({ headers }: Answer): string | null {
  return new URL(headers.get('location')!).searchParams.get('status');
}

/** Opens an emailed link of the API like a browser, without following redirects. */
export function open(link: URL): Promise<Answer> {
  return new Client().call('GET', link.pathname + link.search);
}

/** Registers and verifies an account using only HTTP. */
export async function registerVerified(fields: Partial<Registration> = {}): Promise<Registration> {
  const registration = newRegistration(fields);
  await register(registration);
  await open(await mailedLink(registration.email, 'verify-email'));
  return registration;
}

/** Logs in. Throws if the login fails. */
export async function logIn(
  account: Pick<Registration, 'email' | 'password'>,
): Promise<{ access: string; refresh: string; client: Client }> {
  const { status, body } = await tryLogIn(account);
  if (status !== 200) throw new Error(`login: ${status} ${JSON.stringify(body)}`);
  return {
    access: body.access_token as string,
    refresh: body.refresh_token as string,
    client: new Client(body.access_token as string),
  };
}

/** Attempts a login from a new address. */
export function tryLogIn({ email, password }: Pick<Registration, 'email' | 'password'>): Promise<Answer> {
  return new Client().call('POST', '/auth/login', { json: { email, password } });
}

/** Refreshes the pair of tokens. */
export function refresh(refreshToken: string): Promise<Answer> {
  return new Client().call('POST', '/auth/refresh', { json: { refresh_token: refreshToken } });
}
