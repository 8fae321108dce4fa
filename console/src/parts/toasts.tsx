import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly text: ComponentChildren;
  readonly isBad: boolean;
  readonly undo: (() => void) | null;
}

/** Time to read a toast, and to undo an action. */
const shownMs = 6_000;
const toastsMax = 4;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

function show(text: ComponentChildren, isBad: boolean, undo: (() => void) | null): number {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, text, isBad, undo }].slice(-toastsMax);
  setTimeout(() => dismiss(id), shownMs);
  return id;
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function toast(text: ComponentChildren): void {
  show(text, false, null);
}

export function toastError(error: unknown): void {
  show((error as Error).message, true, null);
}

interface Undoable {
  readonly text: ComponentChildren;
  /** Runs when the time to undo is over, or when the page closes. `isClosing`: the page does not wait. */
  readonly commit: (isClosing: boolean) => Promise<unknown>;
  /** Restores what the page shows, after Undo or a failed commit. */
  readonly restore: () => void;
}

/** Announces an action that takes effect unless the user undoes it. */
export function undoable({ text, commit, restore }: Undoable): void {
  const finish = (isClosing: boolean) => {
    clearTimeout(timer);
    removeEventListener('pagehide', onClosing);
    commit(isClosing).catch((error: unknown) => {
      restore();
      toastError(error);
    });
  };
  const onClosing = () => finish(true);
  const timer = setTimeout(() => finish(false), shownMs);
  addEventListener('pagehide', onClosing);
  const id = show(text, false, () => {
    clearTimeout(timer);
    removeEventListener('pagehide', onClosing);
    dismiss(id);
    restore();
  });
}

/** Announces an action that took effect. `undo` starts the opposite action. */
export function toastWithUndo(text: ComponentChildren, undo: () => void): void {
  const id = show(text, false, () => {
    dismiss(id);
    undo();
  });
}

/** Undoes the latest action that can be undone. */
export function undoLatest(): void {
  toasts.value.findLast(({ undo }) => undo !== null)?.undo?.();
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isBad, undo }) => (
        <div key={id} class={`toast ${isBad ? 'bad' : ''}`}>
          <span>{text}</span>
          {undo !== null && (
            <button type="button" class="link-button" onClick={undo}>
              Undo
            </button>
          )}
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
