import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { session } from '../../../api/session.ts';
import type { Message } from '../../../api/wire.ts';
import { acknowledge, takeBack, type OnAck } from '../../../state/acknowledge.tsx';

const noteMax = 500;

interface AckButtonsProps {
  readonly message: Message;
  readonly onAck: OnAck;
}

/** Acknowledges a message, with or without a note, or takes that back. A button of the message gives it its label. */
export function AckButtons({ message, onAck }: AckButtonsProps) {
  const [isBusy, setBusy] = useState(false);
  const [hasNote, setNote] = useState(false);
  if (session.value === null) return null;
  const run = async (action: () => Promise<void>) => {
    setBusy(true);
    await action().finally(() => setBusy(false));
    setNote(false);
  };
  const about = <About message={message} />;
  if (message.acknowledged_at !== null)
    return (
      <button
        type="button"
        class="link-button"
        disabled={isBusy}
        onClick={() => void run(() => takeBack(message, onAck))}
      >
        Take back
        {about}
      </button>
    );
  const labels = message.actions.filter(({ action }) => action === 'ack').map(({ label }) => label);
  if (labels.length === 0 && !message.requires_ack) return null;
  const send = (note: string) => void run(() => acknowledge(message, note, onAck));
  if (hasNote) return <NoteForm isBusy={isBusy} send={send} close={() => setNote(false)} />;
  return (
    <>
      {(labels.length === 0 ? ['Acknowledge'] : labels).map((label, index) => (
        <button key={index} type="button" class="button primary small" disabled={isBusy} onClick={() => send('')}>
          <bdi>{label}</bdi>
          {about}
        </button>
      ))}
      <button type="button" class="link-button" disabled={isBusy} onClick={() => setNote(true)}>
        With a note
        {about}
      </button>
    </>
  );
}

/** Tells screen readers which message of the page a button is about. */
const About = ({ message }: Pick<AckButtonsProps, 'message'>) => (
  <span class="hidden">
    : <bdi>{message.title ?? message.message}</bdi>
  </span>
);

interface NoteFormProps {
  readonly isBusy: boolean;
  readonly send: (note: string) => void;
  readonly close: () => void;
}

function NoteForm({ isBusy, send, close }: NoteFormProps) {
  const field = useRef<HTMLInputElement>(null);
  // Before the first paint, so that no key is lost.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="ack-note"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) send(field.current!.value.trim());
      }}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <input
        ref={field}
        type="text"
        dir="auto"
        aria-label="Note, shown in the push that tells the others"
        placeholder="Note to the others, such as: on my way"
        autocomplete="off"
        maxLength={noteMax}
      />
      <button type="submit" class="button primary small" disabled={isBusy}>
        Acknowledge
      </button>
      <button type="button" class="link-button" onClick={close}>
        Cancel
      </button>
    </form>
  );
}
