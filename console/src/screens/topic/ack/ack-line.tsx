import type { ComponentChildren } from 'preact';
import type { Message } from '../../../api/wire.ts';
import { ActorName } from '../../../parts/actor-name.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { RelativeTime } from '../../../parts/time/relative-time.tsx';
import { timeAgo } from '../../../parts/time/times.ts';
import { noteOf } from '../../../state/acknowledge.tsx';

interface AckLineProps {
  readonly message: Message;
  /** What the reader can do about it. */
  readonly children?: ComponentChildren;
}

/** Whether someone has to acknowledge the message, or who did. */
export function AckLine({ message, children }: AckLineProps) {
  const { acknowledged_at: at, acknowledged_by: by, requires_ack: isRequired } = message;
  if (at === null)
    return (
      <div class="ack">
        {isRequired && (
          <span class="ack-state waits">
            <Icon name="push" />
            Needs acknowledgement
          </span>
        )}
        {children}
      </div>
    );
  const note = noteOf(message);
  return (
    <div class="ack">
      <span class="ack-state taken">
        <Icon name="check" />
        <span>
          Acknowledged by <ActorName actor={by} />, <RelativeTime iso={at} text={timeAgo} />
          {note !== null && (
            <>
              : <bdi>{note}</bdi>
            </>
          )}
        </span>
      </span>
      {children}
    </div>
  );
}
