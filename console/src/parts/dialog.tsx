import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly isBare?: boolean;
}

/** A modal dialog. Esc and a click outside close it, and focus returns to where it was. */
export function Dialog({ title, onClose, children, isBare = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current!;
    element.showModal();
    // Focus returns only from a dialog that is closed, not from one that is removed.
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isBare ? 'bare' : ''}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      {!isBare && (
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
      )}
      {children}
    </dialog>
  );
}
