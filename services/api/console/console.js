import {
  acceptInvitePage,
  callbackPage,
  forgotPasswordPage,
  loginPage,
  registerPage,
  resendPage,
  resetPasswordPage,
  verifiedPage,
} from './account-pages.js';
import { element, note } from './element.js';
import { loginPath, navigate } from './navigate.js';
import { call, endSession, keepSession, session } from './session.js';
import { topicPage } from './topic-page.js';
import { topicsPage } from './topics-page.js';

/** The pages by their address; `needsLogin` sends whoever is not logged in to the login first. */
const pages = [
  { form: /^\/$|^\/console\/?$/, title: 'My topics', show: topicsPage, needsLogin: true },
  { form: /^\/console\/topics\/(?<item>[^/]+)$/, title: 'Topic', show: topicPage },
  { form: /^\/console\/login$/, title: 'Log in', show: loginPage },
  { form: /^\/console\/register$/, title: 'Create an account', show: registerPage },
  { form: /^\/console\/forgot-password$/, title: 'Forgot the password?', show: forgotPasswordPage },
  { form: /^\/console\/resend$/, title: 'Verify your address', show: resendPage },
  { form: /^\/auth\/reset-password$/, title: 'Set a new password', show: resetPasswordPage },
  { form: /^\/auth\/accept-invite$/, title: 'Join a team', show: acceptInvitePage },
  { form: /^\/auth\/verified$/, title: 'Your address', show: verifiedPage },
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
  document.title = `${item ?? page?.title ?? 'No such page'} · Tocsin`;
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

/** Who is logged in, null for nobody. After a login by a provider only the tokens are known at first. */
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

function logOut() {
  endSession();
  navigate('/console/login');
}

const noPage = () =>
  element(
    'section',
    { class: 'card narrow' },
    element('h1', {}, 'No such page'),
    element('p', {}, element('a', { href: '/console' }, 'My topics')),
  );

/** Links within the console change the page without loading it anew; all others, and those with a key held, are the browser's. */
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
