import type { ComponentChildren } from 'preact';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** The text of the button. */
  readonly action: string;
  readonly tone?: 'primary' | 'danger';
  /** The dialog closes after success and shows the message of an error. */
  readonly send: () => Promise<void>;
  readonly onClose: () => void;
  /** The consequences. */
  readonly children: ComponentChildren;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ title, action, tone = 'primary', send, onClose, children }: ConfirmDialogProps) {
  const confirm = async () => {
    await send();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="consequences">{children}</div>
      <Form action={action} tone={tone} send={confirm} />
    </Dialog>
  );
}
