import {
  acceptInvitePage,
  callbackPage,
  forgotPasswordPage,
  loginPage,
  registerPage,
  resendPage,
  resetPasswordPage,
  undoEmailChangePage,
  verifiedPage,
} from './account-pages.js';
import { element, note } from './element.js';
import { loginPath, navigate } from './navigate.js';
import { call, endSession, keepSession, session } from './session.js';
import { topicPage } from './topic-page.js';
import { topicsPage } from './topics-page.js';

/** The pages by URL path. With `needsLogin`, users without a login go to the login page first. */
const pages = [
  { form: /^\/$|^\/console\/?$/, title: 'My topics', show: topicsPage, needsLogin: true },
  { form: /^\/console\/topics\/(?<item>[^/]+)$/, title: 'Topic', show: topicPage },
  { form: /^\/console\/login$/, title: 'Log in', show: loginPage },
  { form: /^\/console\/register$/, title: 'Create an account', show: registerPage },
  { form: /^\/console\/forgot-password$/, title: 'Forgot your password?', show: forgotPasswordPage },
  { form: /^\/console\/resend$/, title: 'Verify your email address', show: resendPage },
  { form: /^\/auth\/reset-password$/, title: 'Set a new password', show: resetPasswordPage },
  { form: /^\/auth\/undo-email-change$/, title: 'Undo the change of your email address', show: undoEmailChangePage },
  { form: /^\/auth\/accept-invite$/, title: 'Join a team', show: acceptInvitePage },
  { form: /^\/auth\/verified$/, title: 'Your email address', show: verifiedPage },
  { form: /^\/auth\/callback$/, title: 'Log in', show: callbackPage },
];

const view = document.getElementById('view');
let leaving = new AbortController();

async function render() {
  leaving.abort();
  leaving = new AbortController();
  const closing = leaving.signal;
  const page = pages.find(({ form }) => form.test(location.pathname));
  const item = decoded(page?.form.exec(location.pathname).groups?.item);
  document.title = `${item ?? page?.title ?? 'Page not found'} · Tocsin`;
  if (page?.needsLogin && session() === null) return navigate(loginPath(), { replace: true });
  try {
    const user = await currentUser();
    const shown = page === undefined ? noPage() : await page.show({ item, user, closing });
    if (closing.aborted) return;
    view.replaceChildren(shown);
  } catch (error) {
    if (closing.aborted) return;
    if (error.status === 401 && page?.needsLogin) return navigate(loginPath(), { replace: true });
    view.replaceChildren(
      note(error.message, 'bad'),
      element('button', { type: 'button', onclick: render }, 'Try again'),
    );
  }
  renderNav();
}

function decoded(segment) {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the logged-in user or null. After a provider login only the tokens are stored, so this loads the user. */
async function currentUser() {
  const login = session();
  if (login === null || login.user !== null) return login?.user ?? null;
  const user = await call('GET', '/auth/me').catch((error) => {
    if (error.status === 401) return null;
    throw error;
  });
  if (user !== null) keepSession({ ...session(), user });
  return user;
}

function renderNav() {
  const user = session()?.user ?? null;
  const links =
    user === null
      ? [
          element('a', { href: '/console/login' }, 'Log in'),
          element('a', { href: '/console/register' }, 'Create an account'),
        ]
      : [
          element('a', { href: '/console' }, 'My topics'),
          element('span', { class: 'who' }, user.username),
          element('button', { type: 'button', class: 'plain', onclick: logOut }, 'Log out'),
        ];
  document.getElementById('nav').replaceChildren(...links);
}

async function logOut() {
  // Without a connection, the login only ends in this tab.
  await call('POST', '/auth/logout').catch(() => undefined);
  endSession();
  navigate('/console/login');
}

const noPage = () =>
  element(
    'section',
    { class: 'card narrow' },
    element('h1', {}, 'Page not found'),
    element('p', {}, element('a', { href: '/console' }, 'My topics')),
  );

/** Console links change the page without a reload. The browser handles other links and clicks with a modifier key. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (link?.classList.contains('skip')) {
    event.preventDefault();
    view.focus();
    return;
  }
  const isPlain =
    event.button === 0 &&
    !event.metaKey &&
    !event.ctrlKey &&
    !event.shiftKey &&
    !event.altKey &&
    !event.defaultPrevented;
  if (!link || !isPlain || link.origin !== location.origin || !pages.some(({ form }) => form.test(link.pathname)))
    return;
  event.preventDefault();
  navigate(link.pathname + link.search);
});
async function renderAndFocus() {
  await render();
  view.focus();
}
addEventListener('navigated', renderAndFocus);
addEventListener('popstate', renderAndFocus);
await render();
