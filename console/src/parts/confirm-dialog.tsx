import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** The text of the button. */
  readonly action: string;
  readonly tone?: 'primary' | 'danger';
  /** The dialog shows its error, and closes after success. */
  readonly run: () => Promise<unknown>;
  readonly onClose: () => void;
  /** The consequences. */
  readonly children: ComponentChildren;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ title, action, tone = 'danger', run, onClose, children }: ConfirmDialogProps) {
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
          tone={tone}
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
