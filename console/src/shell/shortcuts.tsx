import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Dialog } from '../parts/dialog.tsx';
import { undoLatest } from '../parts/toasts.tsx';
import { devicesPath, homePath, keysPath } from '../parts/paths.ts';

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);

const shortcuts: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['Ctrl', 'K'], 'Go to a topic, publish or search'],
  [['g', 'h'], 'Home'],
  [['g', 's'], 'Search'],
  [['g', 'd'], 'Devices'],
  [['g', 'k'], 'API keys'],
  [['g', 'a'], 'Account'],
  [['p'], 'Write a message to the open topic'],
  [['j'], 'Next message'],
  [['k'], 'Previous message'],
  [['z'], 'Undo the latest removal'],
  [['?'], 'This list'],
  [['Esc'], 'Close'],
];

/** Time to press the second key of a sequence. */
const sequenceMs = 1_500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;

export function useShortcuts(): void {
  const [, navigate] = useLocation();
  // Not after the first paint: keys must work as soon as the page is visible.
  useLayoutEffect(() => {
    let startedAt = 0;
    const targets: Readonly<Record<string, string>> = {
      h: homePath,
      s: '/console/search',
      d: devicesPath,
      k: keysPath,
      a: '/console/account',
    };
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isPaletteOpen.value = !isPaletteOpen.value;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const target = event.timeStamp - startedAt < sequenceMs ? targets[event.key] : undefined;
      startedAt = event.key === 'g' ? event.timeStamp : 0;
      if (target !== undefined) navigate(target);
      else if (event.key === '?') isHelpOpen.value = true;
      else if (event.key === 'z') undoLatest();
      else if (event.key === 'j' || event.key === 'k') focusMessage(event.key === 'j' ? 1 : -1);
      else if (event.key === 'p' && focusPublish()) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate]);
}

function focusPublish(): boolean {
  const box = document.getElementById('message');
  box?.focus();
  return box !== null;
}

function focusMessage(step: 1 | -1): void {
  const messages = [...document.querySelectorAll<HTMLElement>('.message')];
  const current = messages.findIndex((message) => message.contains(document.activeElement));
  messages[current === -1 ? 0 : Math.max(0, current + step)]?.focus();
}

export function ShortcutSheet() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcuts">
        {shortcuts.map(([keys, text]) => (
          <div key={text}>
            <dt>{text}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
