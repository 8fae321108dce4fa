import { useState } from 'preact/hooks';
import { toastError } from '../../parts/toasts.tsx';

interface ActionButtonProps {
  readonly text: string;
  /** Names the subject too, for screen readers. */
  readonly label: string;
  /** A toast shows its error. */
  readonly run: () => Promise<unknown>;
  readonly isDisabled?: boolean;
}

/** A button whose action cannot run twice concurrently. */
export function ActionButton({ text, label, run, isDisabled = false }: ActionButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    // Not `disabled`, which would take the focus away.
    if (isBusy) return;
    setBusy(true);
    await run().catch(toastError);
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="button"
      aria-label={label}
      aria-busy={isBusy}
      disabled={isDisabled}
      onClick={() => void act()}
    >
      {text}
    </button>
  );
}
