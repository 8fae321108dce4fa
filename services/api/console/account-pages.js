import { checkbox, element, field, form, narrowCard } from './element.js';
import { loginPath, navigate, nextPath } from './navigate.js';
import { call, keepSession } from './session.js';

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
      link('/console/forgot-password', 'Forgot the password?'),
      link('/console/resend', 'No verification mail?'),
    ),
    element('hr'),
    form({ action: 'Log in with Google', isPlain: true, send: logInWithGoogle }),
  );
}

/** Leaves for Google, where this server has that set up: otherwise the person would end at an answer in JSON. */
async function logInWithGoogle() {
  const path = '/auth/google/login';
  const answer = await fetch(path, { redirect: 'manual' }).catch(() => null);
  if (answer?.type !== 'opaqueredirect') throw new Error('Logging in with Google is not set up on this server.');
  location.assign(path);
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
          return `A mail is on its way to ${address}. Follow its link, then log in.`;
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
    element('p', { class: 'links' }, link(`/console/login${location.search}`, 'Log in instead')),
  );
}

/** Asks for a mail; the answer is the same whether or not there is such an account. */
function mailPage(title, text, path) {
  return narrowCard(
    title,
    element('p', { class: 'soft' }, text),
    form(
      {
        action: 'Send the mail',
        async send(values) {
          await call('POST', path, { json: { email: values.email }, isPublic: true });
          return 'If there is an account with this address, the mail is on its way.';
        },
      },
      field(email),
    ),
    element('p', { class: 'links' }, link('/console/login', 'Back to the login')),
  );
}

export const forgotPasswordPage = () =>
  mailPage(
    'Forgot the password?',
    'You get a mail with a link by which you set a new one. It works for an hour.',
    '/auth/password-reset/request',
  );

export const resendPage = () =>
  mailPage(
    'Verify your address',
    'You get a new verification mail. Links of earlier ones end with it.',
    '/auth/resend-verification',
  );

/** Takes the token out of the address, so that it stays in no history. Null when there is none. */
function takeFragment() {
  const values = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return values;
}

export function resetPasswordPage() {
  const token = takeFragment().get('token');
  const again = element(
    'p',
    { class: 'links' },
    link('/console/forgot-password', 'Ask for a new link'),
    link('/console/login', 'Log in'),
  );
  if (!token)
    return narrowCard(
      'Set a new password',
      element(
        'p',
        { class: 'note bad', role: 'alert' },
        'This link is not complete. Open it as it stands in the mail.',
      ),
      again,
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
          return 'Your password is set. You can log in with it now; all other logins have ended.';
        },
      },
      field({ ...newPassword, id: 'password' }),
      field({ ...newPassword, id: 'repeated', label: 'The same again', hint: null }),
    ),
    again,
  );
}

export function verifiedPage() {
  const query = new URLSearchParams(location.search);
  const isGood = query.get('status') === 'success';
  const text = isGood
    ? 'Your address is verified. You can log in now.'
    : (query.get('message') ?? 'The address could not be verified.');
  return narrowCard(
    isGood ? 'Address verified' : 'Not verified',
    element('p', { class: `note ${isGood ? 'good' : 'bad'}`, role: isGood ? 'status' : 'alert' }, text),
    element(
      'p',
      { class: 'links' },
      link('/console/login', 'Log in'),
      isGood ? null : link('/console/resend', 'Send a new mail'),
    ),
  );
}

/** Where a login by Google ends: with tokens, or with the code of an error. */
export function callbackPage() {
  const values = takeFragment();
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  if (access_token && refresh_token) {
    keepSession({ access_token, refresh_token, user: null });
    navigate('/console', { replace: true });
    return element('p', { role: 'status' }, 'Logging in …');
  }
  return narrowCard(
    'The login did not work',
    element(
      'p',
      { class: 'note bad', role: 'alert' },
      `Google or this server refused it (${values.get('error') ?? 'no answer'}).`,
    ),
    element('p', { class: 'links' }, link('/console/login', 'Log in')),
  );
}

const inviteStoredAs = 'tocsin.invite';

/** The token of an invite outlives the login that has to come first. */
export function acceptInvitePage({ user }) {
  const token = takeFragment().get('token') ?? sessionStorage.getItem(inviteStoredAs);
  if (!token)
    return narrowCard(
      'Join a team',
      element(
        'p',
        { class: 'note bad', role: 'alert' },
        'This link is not complete. Open it as it stands in the mail.',
      ),
    );
  sessionStorage.setItem(inviteStoredAs, token);
  if (user === null) {
    return narrowCard(
      'Join a team',
      element('p', {}, 'You are invited to a team. Log in with the address that the invite was sent to.'),
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
      action: 'Accept the invite',
      async send() {
        const team = await call('POST', '/api/teams/invites/accept', { json: { token } });
        sessionStorage.removeItem(inviteStoredAs);
        return `You are a member of ${team.display_name} now.`;
      },
    }),
    element('p', { class: 'links' }, link('/console', 'My topics')),
  );
}
