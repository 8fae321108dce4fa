import { checkbox, element, field, form, narrowCard } from './element.js';
import { hasGoogleLogin, sendsEmails } from './features.js';
import { loginPath, navigate, nextPath } from './navigate.js';
import { beginProviderLogin, call, endProviderLogin, endSession, keepSession } from './session.js';

const email = { id: 'email', label: 'Email', type: 'email', required: true, autocomplete: 'email', maxlength: '254' };
const newPassword = {
  label: 'New password',
  type: 'password',
  required: true,
  autocomplete: 'new-password',
  minlength: '8',
  hint: 'At least 8 characters.',
};
const link = (href, text) => element('a', { href }, text);

export function loginPage() {
  const next = nextPath();
  const query = next === '/console' ? '' : `?next=${encodeURIComponent(next)}`;
  return narrowCard(
    'Log in',
    form(
      {
        action: 'Log in',
        async send(values) {
          keepSession(
            await call('POST', '/auth/login', {
              json: { email: values.email, password: values.password },
              isPublic: true,
            }),
          );
          navigate(next, { replace: true });
        },
      },
      field(email),
      field({ id: 'password', label: 'Password', type: 'password', required: true, autocomplete: 'current-password' }),
    ),
    element(
      'p',
      { class: 'links' },
      link(`/console/register${query}`, 'Create an account'),
      link('/console/forgot-password', 'Forgot your password?'),
      link('/console/resend', 'Resend the verification link'),
    ),
    hasGoogleLogin && element('hr'),
    hasGoogleLogin &&
      form({
        action: 'Log in with Google',
        isPlain: true,
        send() {
          location.assign(`/auth/google/login?app_state=${beginProviderLogin()}`);
        },
      }),
  );
}

export function registerPage() {
  return narrowCard(
    'Create an account',
    form(
      {
        action: 'Create account',
        clear: true,
        async send({ email: address, username, password, terms }) {
          await call('POST', '/auth/register', {
            json: { email: address, username, password, terms_accepted: terms },
            isPublic: true,
          });
          return sendsEmails
            ? `Account created. Follow the link in the email to ${address}, then log in.`
            : `Account created. ${noEmails} Ask its operator to verify ${address}, then log in.`;
        },
      },
      field(email),
      field({
        id: 'username',
        label: 'Username',
        required: true,
        autocomplete: 'username',
        pattern: '[A-Za-z0-9_.\\-]{3,32}',
        hint: '3 to 32 letters, digits, dots, dashes and underscores.',
      }),
      field({ ...newPassword, id: 'password', label: 'Password' }),
      checkbox({ id: 'terms', label: 'I accept the terms of this server', required: true }),
    ),
    element('p', { class: 'links' }, link(`/console/login${location.search}`, 'Log in')),
  );
}

const noEmails = 'This server does not send emails.';

/** Requests an emailed link. The result does not reveal whether the account exists. */
function emailPage({ title, text, note, path }) {
  return narrowCard(
    title,
    element(
      'p',
      { class: 'soft' },
      `${sendsEmails ? text : `${noEmails} Request a link here, then ask the operator for it.`} ${note}`,
    ),
    form(
      {
        action: 'Request link',
        async send(values) {
          await call('POST', path, { json: { email: values.email }, isPublic: true });
          return sendsEmails
            ? 'If an account with this address exists, it receives an email.'
            : 'If an account with this address exists, a link was created. Ask the operator of this server for it.';
        },
      },
      field(email),
    ),
    element('p', { class: 'links' }, link('/console/login', 'Log in')),
  );
}

export const forgotPasswordPage = () =>
  emailPage({
    title: 'Forgot your password?',
    text: 'You receive an email with a link to set a new password.',
    note: 'The link is valid for one hour.',
    path: '/auth/password-reset/request',
  });

export const resendPage = () =>
  emailPage({
    title: 'Verify your email address',
    text: 'You receive a new verification email.',
    note: 'Earlier links become invalid.',
    path: '/auth/resend-verification',
  });

/** Returns the values of the URL fragment and removes it, so that tokens do not stay in the browser history. */
function takeFragment() {
  const values = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return values;
}

export function resetPasswordPage() {
  const token = takeFragment().get('token');
  const links = element(
    'p',
    { class: 'links' },
    link('/console/forgot-password', 'Request a new link'),
    link('/console/login', 'Log in'),
  );
  if (!token)
    return narrowCard(
      'Set a new password',
      element(
        'p',
        { class: 'note bad', role: 'alert' },
        'This link is incomplete. Open the complete link that you received.',
      ),
      links,
    );
  return narrowCard(
    'Set a new password',
    form(
      {
        action: 'Set password',
        clear: true,
        async send({ password, repeated }) {
          if (password !== repeated) throw new Error('The two passwords differ.');
          await call('POST', '/auth/password-reset/confirm', {
            json: { token, new_password: password },
            isPublic: true,
          });
          return 'Your password is set and all other logins have ended. You can log in now.';
        },
      },
      field({ ...newPassword, id: 'password' }),
      field({ ...newPassword, id: 'repeated', label: 'Repeat password', hint: null }),
    ),
    links,
  );
}

/** Returns the content of the cookie that came with the redirect, and removes it. */
function takeVerified() {
  const value = /(?:^|; )tocsin_verified=([A-Za-z0-9_-]+)/.exec(document.cookie)?.[1];
  if (value === undefined) return {};
  document.cookie = 'tocsin_verified=; Max-Age=0; Path=/auth/verified';
  const bytes = Uint8Array.from(atob(value.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

export function verifiedPage() {
  const query = new URLSearchParams(location.search);
  const { username, removal } = takeVerified();
  const isGood = query.get('status') === 'success';
  const text = isGood
    ? `Your email address is verified${username ? ` for the account “${username}”` : ''}. You can log in now.`
    : (query.get('message') ?? 'Could not verify the email address.');
  return narrowCard(
    isGood ? 'Email address verified' : 'Not verified',
    element('p', { class: `note ${isGood ? 'good' : 'bad'}`, role: isGood ? 'status' : 'alert' }, text),
    element(
      'p',
      { class: 'links' },
      link('/console/login', 'Log in'),
      isGood ? null : link('/console/resend', 'Request a new link'),
    ),
    isGood && removal && element('hr'),
    isGood &&
      removal &&
      element(
        'p',
        { class: 'soft' },
        `If you did not create the account “${username}”, remove it. This cannot be undone.`,
      ),
    isGood &&
      removal &&
      form({
        action: 'This was not me: remove the account',
        isPlain: true,
        async send() {
          await call('POST', '/auth/verify-email/undo', { json: { token: removal }, isPublic: true });
          return `The account “${username}” was removed.`;
        },
      }),
  );
}

export function undoEmailChangePage() {
  const token = takeFragment().get('token');
  if (!token)
    return narrowCard(
      'Undo the change of your email address',
      element(
        'p',
        { class: 'note bad', role: 'alert' },
        'This link is incomplete. Open the complete link that you received.',
      ),
    );
  return narrowCard(
    'Undo the change of your email address',
    element(
      'p',
      {},
      'The address that received this link becomes the email address of the account again, all logins end, and you receive a link to set a new password.',
    ),
    form({
      action: 'Undo the change',
      async send() {
        await call('POST', '/auth/email-change/undo', { json: { token }, isPublic: true });
        endSession();
        return 'The email address is restored and all logins have ended. Set a new password with the link that you receive.';
      },
    }),
  );
}

/** The target of the redirect after a Google login, with tokens or an error code in the fragment. */
export function callbackPage() {
  const values = takeFragment();
  const isOurs = endProviderLogin(values.get('app_state'));
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  if (access_token && refresh_token && isOurs) {
    keepSession({ access_token, refresh_token, user: null });
    navigate('/console', { replace: true });
    return element('p', { role: 'status' }, 'Logging in …');
  }
  return narrowCard(
    'Login failed',
    element(
      'p',
      { class: 'note bad', role: 'alert' },
      access_token && !isOurs
        ? 'This login did not begin in this tab. Log in again.'
        : `The login with the provider failed: ${values.get('error') ?? 'no tokens received'}`,
    ),
    element('p', { class: 'links' }, link('/console/login', 'Log in')),
  );
}

const inviteStoredAs = 'tocsin.invite';

/** Stores the invite token in the session while the user logs in. */
export function acceptInvitePage({ user }) {
  const token = takeFragment().get('token') ?? sessionStorage.getItem(inviteStoredAs);
  if (!token)
    return narrowCard(
      'Join a team',
      element(
        'p',
        { class: 'note bad', role: 'alert' },
        'This link is incomplete. Open the complete link that you received.',
      ),
    );
  sessionStorage.setItem(inviteStoredAs, token);
  if (user === null) {
    return narrowCard(
      'Join a team',
      element('p', {}, 'You are invited to a team. Log in with the invited email address.'),
      element(
        'p',
        { class: 'links' },
        link(loginPath(), 'Log in'),
        link(`/console/register?next=${encodeURIComponent('/auth/accept-invite')}`, 'Create an account'),
      ),
    );
  }
  return narrowCard(
    'Join a team',
    element('p', {}, `You are logged in as ${user.email}.`),
    form({
      action: 'Accept invite',
      async send() {
        const team = await call('POST', '/api/teams/invites/accept', { json: { token } });
        sessionStorage.removeItem(inviteStoredAs);
        return `You are now a member of ${team.display_name}.`;
      },
    }),
    element('p', { class: 'links' }, link('/console', 'My topics')),
  );
}
