import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, Redirect, useLocation } from 'wouter-preact';
import { session } from '../api/session.ts';
import { Logo } from '../parts/logo.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { AcceptInvite } from '../screens/access/accept-invite.tsx';
import { ResetPassword, UndoEmailChange, Verified } from '../screens/access/emailed-links.tsx';
import { LogIn } from '../screens/access/log-in.tsx';
import { ProviderCallback } from '../screens/access/provider-callback.tsx';
import { Register } from '../screens/access/register.tsx';
import { ForgotPassword, ResendVerification } from '../screens/access/request-link.tsx';
import { Account } from '../screens/account/account.tsx';
import { Devices } from '../screens/devices/devices.tsx';
import { Home } from '../screens/home.tsx';
import { Keys } from '../screens/keys/keys.tsx';
import { Search } from '../screens/search.tsx';
import { TopicActivity } from '../screens/topic/activity/topic-activity.tsx';
import { TopicLog } from '../screens/topic/log/topic-log.tsx';
import { TeamScreen } from '../screens/teams/team-screen.tsx';
import { TeamsScreen } from '../screens/teams/teams-screen.tsx';
import { NotificationSettings } from '../screens/topic/notifications/notification-settings.tsx';
import { ScheduledMessages } from '../screens/topic/scheduled/scheduled-messages.tsx';
import { TopicSettings } from '../screens/topic/settings/topic-settings.tsx';
import { TopicScreen } from '../screens/topic/topic-screen.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { lazyScreen } from './lazy-screen.tsx';
import { loginPath } from '../parts/paths.ts';
import { Shell } from './shell.tsx';

interface Page {
  readonly form: RegExp;
  readonly title: string;
  readonly Screen: ComponentType<{ readonly item: string }>;
  /** `account`: users without a login go to the login page first. `alone`: without the navigation. */
  readonly kind: 'account' | 'anyone' | 'alone';
  /** The path contains an ID, which is not a title. */
  readonly hasId?: true;
}

const Admin = lazyScreen(() => import('../screens/admin/admin.tsx').then((module) => module.Admin));

const pages: readonly Page[] = [
  { form: /^\/$|^\/console\/?$/, title: 'Home', Screen: Home, kind: 'account' },
  { form: /^\/console\/topics\/([^/]+)$/, title: 'Topic', Screen: TopicScreen, kind: 'anyone' },
  { form: /^\/console\/topics\/([^/]+)\/activity$/, title: 'Activity', Screen: TopicActivity, kind: 'account' },
  { form: /^\/console\/topics\/([^/]+)\/log$/, title: 'Log', Screen: TopicLog, kind: 'anyone' },
  { form: /^\/console\/topics\/([^/]+)\/scheduled$/, title: 'Scheduled', Screen: ScheduledMessages, kind: 'account' },
  { form: /^\/console\/topics\/([^/]+)\/settings$/, title: 'Topic settings', Screen: TopicSettings, kind: 'account' },
  {
    form: /^\/console\/topics\/([^/]+)\/notifications$/,
    title: 'Notifications',
    Screen: NotificationSettings,
    kind: 'account',
  },
  { form: /^\/console\/search$/, title: 'Search', Screen: Search, kind: 'account' },
  { form: /^\/console\/devices$/, title: 'Devices', Screen: Devices, kind: 'account' },
  { form: /^\/console\/keys$/, title: 'API keys', Screen: Keys, kind: 'account' },
  { form: /^\/console\/teams$/, title: 'Teams', Screen: TeamsScreen, kind: 'account' },
  { form: /^\/console\/teams\/([^/]+)$/, title: 'Team', Screen: TeamScreen, kind: 'account', hasId: true },
  { form: /^\/console\/account$/, title: 'Account', Screen: Account, kind: 'account' },
  { form: /^\/admin$|^\/console\/admin(?:\/([^/]+))?$/, title: 'Operator', Screen: Admin, kind: 'anyone' },
  { form: /^\/console\/login$/, title: 'Log in', Screen: LogIn, kind: 'alone' },
  { form: /^\/console\/register$/, title: 'Create an account', Screen: Register, kind: 'alone' },
  { form: /^\/console\/forgot-password$/, title: 'Forgot your password?', Screen: ForgotPassword, kind: 'alone' },
  { form: /^\/console\/resend$/, title: 'Verify your email address', Screen: ResendVerification, kind: 'alone' },
  { form: /^\/auth\/reset-password$/, title: 'Set a new password', Screen: ResetPassword, kind: 'alone' },
  { form: /^\/auth\/undo-email-change$/, title: 'Undo an email change', Screen: UndoEmailChange, kind: 'alone' },
  { form: /^\/auth\/accept-invite$/, title: 'Join a team', Screen: AcceptInvite, kind: 'alone' },
  { form: /^\/auth\/verified$/, title: 'Your email address', Screen: Verified, kind: 'alone' },
  { form: /^\/auth\/callback$/, title: 'Log in', Screen: ProviderCallback, kind: 'alone' },
];

const notFound: Page = { form: /^/, title: 'Page not found', Screen: NotFound, kind: 'anyone' };

export function App() {
  const [path] = useLocation();
  const page = pages.find(({ form }) => form.test(path)) ?? notFound;
  const item = decoded(page.form.exec(path)?.[1] ?? '');
  const view = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${item === '' || page.hasId === true ? page.title : item} · Tocsin`;
    // A screen reader continues at the content of the new page.
    if (!isFirst.current) view.current?.focus();
    isFirst.current = false;
  }, [path]);
  if (page.kind === 'account' && session.value === null) return <Redirect to={loginPath()} replace />;
  const content = (
    <main id="view" tabIndex={-1} ref={view}>
      <ErrorBoundary key={path}>
        <page.Screen item={item} />
      </ErrorBoundary>
    </main>
  );
  return (
    <>
      <a class="skip" href="#view" onClick={(event) => skip(event, view.current)}>
        Skip to content
      </a>
      {page.kind === 'alone' ? <Alone>{content}</Alone> : <Shell path={path}>{content}</Shell>}
      <Toasts />
    </>
  );
}

/** A link would replace the fragment of the URL. */
function skip(event: Event, view: HTMLElement | null): void {
  event.preventDefault();
  view?.focus();
}

function Alone({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="alone">
      <header>
        <Link class="brand" href="/console">
          <Logo />
          Tocsin
        </Link>
      </header>
      {children}
      <footer>
        <a href="/docs">API documentation</a>
      </footer>
    </div>
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function NotFound() {
  return (
    <div class="page">
      <h1>Page not found</h1>
      <p class="soft">The address has a mistake, or the page has moved.</p>
      <p>
        <Link href="/console">Home</Link>
      </p>
    </div>
  );
}
