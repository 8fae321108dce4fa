import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../api/call.ts';
import { keepSession, session, type SessionUser } from '../api/session.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Logo } from '../parts/logo.tsx';
import { nextTheme, theme } from '../parts/theme.ts';
import { keepBrowserRegistered } from '../state/browser-push.ts';
import { inbox, loadInbox } from '../state/inbox.ts';
import { refreshWaiting, waiting } from '../state/waiting.ts';
import { logOut } from '../state/log-out.ts';
import { operatorToken } from '../state/operator-token.ts';
import { CommandPalette } from './command-palette.tsx';
import { adminPath, devicesPath, homePath, keysPath, loginPath, teamsPath, topicPath } from '../parts/paths.ts';
import { isHelpOpen, isPaletteOpen, ShortcutSheet, useShortcuts } from './shortcuts.tsx';
import { UnreadCount } from '../parts/unread-count.tsx';
import { WaitingCount } from '../screens/topic/ack/waiting-list.tsx';

/** Unread counts of topics that no open stream covers are this old at most. */
const refreshMs = 60_000;

const isMenuOpen = signal(false);

/** The navigation, which stays, and the content of the page. */
export function Shell({ path, children }: { readonly path: string; readonly children: ComponentChildren }) {
  useShortcuts();
  useEffect(() => {
    isMenuOpen.value = false;
  }, [path]);
  useAccount();
  return (
    <div class="shell">
      <header class="topbar">
        <button
          type="button"
          class="icon-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen.value}
          onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
        >
          <Icon name={isMenuOpen.value ? 'close' : 'menu'} />
        </button>
        <Link class="brand" href={homePath}>
          <Logo />
          Tocsin
        </Link>
        <button type="button" class="icon-button" aria-label="Go to …" onClick={() => (isPaletteOpen.value = true)}>
          <Icon name="search" />
        </button>
      </header>
      <Sidebar path={path} />
      {isMenuOpen.value && <div class="scrim" onClick={() => (isMenuOpen.value = false)} />}
      {children}
      {isPaletteOpen.value && <CommandPalette />}
      {isHelpOpen.value && <ShortcutSheet />}
    </div>
  );
}

/** Loads the user of a login that only brought tokens, and the topics of the navigation. */
function useAccount(): void {
  const login = session.value;
  useEffect(() => {
    if (login === null) return undefined;
    if (login.user === null)
      call<SessionUser>('GET', '/auth/me').then(
        (user) => session.value !== null && keepSession({ ...session.value, user }),
        () => undefined,
      );
    // The pages report errors; the navigation keeps what it shows.
    const refresh = () => void Promise.all([loadInbox().catch(() => undefined), refreshWaiting()]);
    if (inbox.value === null) refresh();
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), refreshMs);
    return () => clearInterval(timer);
  }, [login === null]);
  // The page of the devices shows the state of this browser.
  useEffect(() => void keepBrowserRegistered().catch(() => undefined), [login?.user?.id]);
}

function Sidebar({ path }: { readonly path: string }) {
  const user = session.value?.user ?? null;
  return (
    <div class={`sidebar ${isMenuOpen.value ? 'open' : ''}`}>
      <Link class="brand" href={homePath}>
        <Logo />
        Tocsin
      </Link>
      <button type="button" class="jump" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" />
        <span>Go to …</span>
        <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label="Console">
        {session.value === null ? (
          <>
            <Item href={loginPath()} path={path} icon="account" text="Log in" />
            <Item href="/console/register" path={path} icon="plus" text="Create an account" />
          </>
        ) : (
          <>
            <Item href={homePath} path={path} icon="home" text="Home" waiting={waiting.value.length} />
            <Item href="/console/search" path={path} icon="search" text="Search" />
            <Item href={devicesPath} path={path} icon="phone" text="Devices" />
            <Item href={keysPath} path={path} icon="key" text="API keys" />
            <Item href={teamsPath} path={path} icon="team" text="Teams" />
            <TopicItems path={path} />
          </>
        )}
      </nav>
      <div class="sidebar-foot">
        {operatorToken.value !== null && <Item href={adminPath('')} path={path} icon="settings" text="Operator" />}
        <a class="nav-item" href="/docs">
          <Icon name="book" />
          <span>API documentation</span>
        </a>
        <button type="button" class="nav-item" onClick={() => (isHelpOpen.value = true)}>
          <Icon name="keyboard" />
          <span>Shortcuts</span>
          <kbd>?</kbd>
        </button>
        <button type="button" class="nav-item" onClick={nextTheme}>
          <Icon name="theme" />
          <span>Theme: {theme.value}</span>
        </button>
        {session.value !== null && (
          <div class="who">
            <Item href="/console/account" path={path} icon="account" text={user?.username ?? 'Account'} />
            <button
              type="button"
              class="icon-button"
              aria-label="Log out"
              title="Log out"
              onClick={() => void logOut()}
            >
              <Icon name="logout" />
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

interface ItemProps {
  readonly href: string;
  readonly path: string;
  readonly icon: IconName;
  readonly text: string;
  readonly unread?: number;
  /** The number of messages that wait for an acknowledgement. */
  readonly waiting?: number;
}

/** Pages that the server also serves at another path. */
const shortPaths: Readonly<Record<string, string>> = { [homePath]: '/', [adminPath('')]: '/admin' };

function Item({ href, path, icon, text, unread = 0, waiting: waits = 0 }: ItemProps) {
  const isCurrent = path === href || path === shortPaths[href] || (href !== homePath && path.startsWith(`${href}/`));
  return (
    <Link href={href} class="nav-item" aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      <span dir="auto">{text}</span>
      {waits > 0 && <WaitingCount count={waits} />}
      {unread > 0 && <UnreadCount count={unread} />}
    </Link>
  );
}

const shownMax = 12;

function TopicItems({ path }: { readonly path: string }) {
  const [isAll, setAll] = useState(false);
  const subscriptions = inbox.value?.subscriptions ?? [];
  if (subscriptions.length === 0) return null;
  return (
    <>
      <h2 class="nav-title">Subscriptions</h2>
      {subscriptions.slice(0, isAll ? undefined : shownMax).map((subscription) => (
        <Item
          key={subscription.id}
          href={topicPath(subscription.topic_name)}
          path={path}
          icon={subscription.access_level === 'PRIVATE' ? 'lock' : 'hash'}
          text={subscription.topic_name}
          unread={subscription.unread_count}
        />
      ))}
      {subscriptions.length > shownMax && (
        <button type="button" class="nav-item soft" onClick={() => setAll(!isAll)}>
          <Icon name="more" />
          <span>{isAll ? 'Show fewer' : `${subscriptions.length - shownMax} more`}</span>
        </button>
      )}
    </>
  );
}
