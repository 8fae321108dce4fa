import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { session } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { nextTheme } from '../parts/theme.ts';
import { inbox, knownTopics } from '../state/inbox.ts';
import { logOut } from '../state/log-out.ts';
import {
  adminPath,
  devicesPath,
  homePath,
  keysPath,
  loginPath,
  teamPath,
  teamsPath,
  topicPath,
} from '../parts/paths.ts';
import { isHelpOpen, isPaletteOpen } from './shortcuts.tsx';

interface Command {
  readonly text: string;
  readonly hint: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const shownMax = 12;
const topicName = /^[A-Za-z0-9_-]{1,64}$/;

/** Commands whose text contains every word of the input, topics first. */
export function CommandPalette() {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [selected, setSelected] = useState(0);
  const commands = commandsFor(query.trim(), navigate);
  const close = () => (isPaletteOpen.value = false);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    close();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected((selected + step + commands.length) % Math.max(1, commands.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[selected]);
    }
  };
  return (
    <Dialog title="Go to" isBare onClose={close}>
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Go to a topic, publish or search"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={commands.length === 0 ? undefined : `command-${selected}`}
          placeholder="Go to a topic, publish or search …"
          autocomplete="off"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <li
            key={command.hint + command.text}
            id={`command-${index}`}
            role="option"
            aria-selected={index === selected}
            onPointerMove={() => setSelected(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span dir="auto">{command.text}</span>
            <span class="soft">{command.hint}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function commandsFor(query: string, navigate: (path: string) => void): readonly Command[] {
  const go = (text: string, path: string, icon: IconName): Command => ({
    text,
    hint: 'Page',
    icon,
    run: () => navigate(path),
  });
  const isKnown = knownTopics.value.some((name) => name.toLowerCase() === query.toLowerCase());
  const topics = knownTopics.value.map((name) => topicCommand(name, 'Topic', navigate));
  const pages =
    session.value === null
      ? [go('Log in', loginPath(), 'account')]
      : [
          go('Home', homePath, 'home'),
          go('Search', '/console/search', 'search'),
          go('Devices', devicesPath, 'phone'),
          go('API keys', keysPath, 'key'),
          go('Teams', teamsPath, 'team'),
          go('Account', '/console/account', 'account'),
          { text: 'Log out', hint: 'Account', icon: 'logout' as const, run: () => void logOut() },
        ];
  const settings: Command[] = [
    { text: 'Switch theme', hint: 'Display', icon: 'theme', run: nextTheme },
    { text: 'Keyboard shortcuts', hint: 'Help', icon: 'keyboard', run: () => (isHelpOpen.value = true) },
    go('Operator', adminPath(''), 'settings'),
    { text: 'API documentation', hint: 'Help', icon: 'book', run: () => location.assign('/docs') },
  ];
  const teams = (inbox.value?.teams ?? []).map(({ id, name, display_name }): Command => ({
    text: display_name,
    hint: `Team ${name}`,
    icon: 'team',
    run: () => navigate(teamPath(id)),
  }));
  const words = query.toLowerCase().split(/\s+/);
  const matches = [
    ...topics,
    ...pages,
    ...teams,
    ...knownTopics.value.map((name) => publishCommand(name, navigate)),
    ...settings,
  ]
    .filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)))
    .slice(0, shownMax);
  const isOther = topicName.test(query) && !isKnown;
  return [...matches, ...(isOther ? [topicCommand(query, 'Open topic', navigate)] : []), ...searchFor(query, navigate)];
}

const topicCommand = (name: string, hint: string, navigate: (path: string) => void): Command => ({
  text: name,
  hint,
  icon: 'hash',
  run: () => navigate(topicPath(name)),
});

const publishCommand = (name: string, navigate: (path: string) => void): Command => ({
  text: `Publish to ${name}`,
  hint: 'Publish',
  icon: 'push',
  run: () => navigate(`${topicPath(name)}?publish`),
});

function searchFor(query: string, navigate: (path: string) => void): readonly Command[] {
  if (query === '' || session.value === null) return [];
  const run = () => navigate(`/console/search?q=${encodeURIComponent(query)}`);
  return [{ text: `Search messages for “${query}”`, hint: 'Search', icon: 'search', run }];
}
