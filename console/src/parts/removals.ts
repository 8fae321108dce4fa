import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { call } from '../api/call.ts';
import { undoable } from './toasts.tsx';

/** IDs of resources that the server deletes once the time to undo is over, and of those that it has deleted. */
const removed = signal<ReadonlySet<string>>(new Set());

export const isRemoved = ({ id }: { readonly id: string }): boolean => removed.value.has(id);

interface Removal {
  readonly id: string;
  /** Path of the `DELETE` request. */
  readonly path: string;
  /** Announces the removal. */
  readonly text: ComponentChildren;
}

/** Hides a resource on every screen and deletes it unless the user undoes that. */
export function remove({ id, path, text }: Removal): void {
  removed.value = new Set([...removed.value, id]);
  undoable({
    text,
    commit: (isClosing) => call('DELETE', path, { keepalive: isClosing }),
    restore: () => (removed.value = new Set([...removed.value].filter((one) => one !== id))),
  });
}
