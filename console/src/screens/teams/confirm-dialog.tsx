import type { ComponentChildren } from 'preact';
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
  const send = async () => {
    await run();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="confirm">
        {children}
        <Form
          action={action}
          tone="danger"
          send={send}
          aside={
            <button type="button" class="button" onClick={onClose}>
              Cancel
            </button>
          }
        />
      </div>
    </Dialog>
  );
}
