import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly action: string;
  /** The dialog shows its error, and closes after success. */
  readonly run: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ title, action, run, onClose, children }: ConfirmDialogProps) {
  const body = useRef<HTMLDivElement>(null);
  // Closing the element returns the focus; removing it would not.
  const close = () => body.current?.closest('dialog')?.close();
  const send = async () => {
    await run();
    close();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="confirm" ref={body}>
        {children}
        <Form
          action={action}
          tone="danger"
          send={send}
          aside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        />
      </div>
    </Dialog>
  );
}
