import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { session } from '../api/session.ts';
import type { Acknowledgement, Message } from '../api/wire.ts';
import { ActorName } from '../parts/actor-name.tsx';
import { toast, toastError, toastWithUndo } from '../parts/toasts.tsx';
import { waitingChanged } from './waiting.ts';

export type AckState = Pick<Message, 'acknowledged_at' | 'acknowledged_by'>;

/** Shows the new state of a message; a stream delivers it to other pages. */
export type OnAck = (id: string, state: AckState) => void;

/** Notes of acknowledgements that this page made, by message ID: messages do not contain them. */
const notes = signal<ReadonlyMap<string, Acknowledgement>>(new Map());

/** The note of the message's acknowledgement, if this page knows it. */
export function noteOf({ id, acknowledged_at }: Message): string | null {
  const known = notes.value.get(id);
  return known?.acknowledged_at === acknowledged_at ? (known?.note ?? null) : null;
}

const pathOf = ({ id }: Pick<Message, 'id'>): string => `/api/messages/${id}/ack`;

/** Acknowledges the message and offers to undo that. Reports errors as a toast. */
export async function acknowledge(message: Message, note: string, onAck: OnAck): Promise<void> {
  try {
    const made = await call<Acknowledgement>('POST', pathOf(message), { json: note === '' ? {} : { note } });
    notes.value = new Map(notes.value).set(message.id, made);
    const { acknowledged_at, acknowledged_by } = made;
    onAck(message.id, { acknowledged_at, acknowledged_by });
    if (isOwn(made)) toastWithUndo('Acknowledged.', () => void takeBack(message, onAck));
    else
      toast(
        <>
          <ActorName actor={acknowledged_by} /> has already acknowledged the message.
        </>,
      );
  } catch (error) {
    toastError(error);
  }
  waitingChanged();
}

/** Withdraws the acknowledgement: pushes and steps start again. Reports errors as a toast. */
export async function takeBack(message: Pick<Message, 'id'>, onAck: OnAck): Promise<void> {
  try {
    await call('DELETE', pathOf(message));
    onAck(message.id, { acknowledged_at: null, acknowledged_by: null });
    toast('The message waits for an acknowledgement again.');
  } catch (error) {
    toastError(error);
  }
  waitingChanged();
}

const isOwn = ({ acknowledged_by: by }: AckState): boolean =>
  by?.kind === 'account' && by.name === session.value?.user?.username;
