import { erasedActor, type Actor } from './actor.ts';

export const httpActionMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Opens a page. `clear` removes the notification when the button is pressed. */
export interface ViewAction {
  readonly action: 'view';
  readonly label: string;
  readonly url: string;
  readonly clear: boolean;
}

/** Sends a request from the device. */
export interface HttpAction {
  readonly action: 'http';
  readonly label: string;
  readonly url: string;
  readonly method: (typeof httpActionMethods)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly clear: boolean;
}

/** Acknowledges the message. */
export interface AckAction {
  readonly action: 'ack';
  readonly label: string;
}

/** A button of a message. The names of the fields are those of the wire. */
export type MessageAction = ViewAction | HttpAction | AckAction;

export interface Acknowledgement {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: Actor;
  readonly note: string | null;
}

/** The fields that most messages do not have. */
export interface MessageExtras {
  /** The absolute URL that a tap on the message opens. */
  readonly click: string | null;
  /** At most three buttons. */
  readonly actions: readonly MessageAction[];
  /** An `https` URL; the server never fetches it. */
  readonly iconUrl: string | null;
  /** Pushed without sound, vibration or banner. */
  readonly isSilent: boolean;
  /** Whether the topic's policy repeats the push until someone acknowledges the message. */
  readonly requiresAck: boolean;
  readonly acknowledgement: Acknowledgement | null;
  /** When the message was restored from the archive, which made it read-only; null for all others. */
  readonly restoredAt: number | null;
}

export const extrasLimits = {
  urlCharacters: 2_048,
  actions: 3,
  actionLabelCodePoints: 100,
  actionHeaders: 10,
  actionHeaderCharacters: 1_024,
  actionBodyCodePoints: 4_096,
} as const;

export const noExtras: MessageExtras = Object.freeze({
  click: null,
  actions: Object.freeze([]),
  iconUrl: null,
  isSilent: false,
  requiresAck: false,
  acknowledgement: null,
  restoredAt: null,
});

const fields = Object.keys(noExtras) as (keyof MessageExtras)[];

/** Returns the fields that differ from their defaults as JSON; null if none does. */
export function storedExtras(of: MessageExtras): string | null {
  if (of.click === null && of.iconUrl === null && of.actions.length === 0 && !of.isSilent && !of.requiresAck) {
    if (of.acknowledgement === null && of.restoredAt === null) return null;
  }
  return JSON.stringify(
    Object.fromEntries(
      fields.flatMap((field) => {
        const value = of[field];
        const isDefault = value === noExtras[field] || (Array.isArray(value) && value.length === 0);
        return isDefault ? [] : [[field, value]];
      }),
    ),
  );
}

/** Parses the stored form. */
export function parseExtras(stored: string | null): MessageExtras {
  return stored === null ? noExtras : { ...noExtras, ...(JSON.parse(stored) as Partial<MessageExtras>) };
}

/** Returns the stored form without the name, account and note of an acknowledgement by the account. */
export function forgetExtras(stored: string | null, accountId: string): string | null {
  const extras = parseExtras(stored);
  const { acknowledgement } = extras;
  if (acknowledgement?.by.accountId !== accountId) return stored;
  return storedExtras({ ...extras, acknowledgement: erasedAcknowledgement(acknowledgement) });
}

/** Returns the acknowledgement after the erasure of the account that gave it. */
export const erasedAcknowledgement = ({ at, by }: Acknowledgement): Acknowledgement => ({
  at,
  by: erasedActor(by),
  note: null,
});
