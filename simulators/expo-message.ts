import { hasForm, isBoolean, isCount, isNumber, isObject, isText, oneOf, type Forms } from './forms.ts';

/** A push in Expo's documented format; the simulator rejects everything else. */
export interface ExpoMessage {
  readonly to: string;
  readonly data?: { readonly [key: string]: unknown };
  readonly title?: string;
  readonly subtitle?: string;
  readonly body?: string;
  readonly sound?: string | null | { critical?: boolean; name?: string | null; volume?: number };
  readonly ttl?: number;
  readonly expiration?: number;
  readonly priority?: 'default' | 'normal' | 'high';
  readonly interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
  readonly badge?: number;
  readonly channelId?: string;
  readonly categoryId?: string;
  readonly mutableContent?: boolean;
  readonly collapseId?: string;
  readonly tag?: string;
}

/** iOS only. `volume` is from 0 to 1. */
const soundForms: Forms = {
  critical: isBoolean,
  name: (value) => value === null || isText(value),
  volume: (value) => isNumber(value) && value >= 0 && value <= 1,
};

const forms: Forms = {
  to: (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  data: isObject,
  title: isText,
  subtitle: isText,
  body: isText,
  sound: (value) => value === null || isText(value) || hasForm(value, soundForms),
  ttl: isCount,
  expiration: isCount,
  priority: oneOf('default', 'normal', 'high'),
  interruptionLevel: oneOf('passive', 'active', 'time-sensitive', 'critical'),
  badge: isCount,
  channelId: isText,
  categoryId: isText,
  icon: isText,
  richContent: (value) => hasForm(value, { image: isText }),
  mutableContent: isBoolean,
  _contentAvailable: isBoolean,
  // Apple's limit for apns-collapse-id.
  collapseId: (value) => isText(value) && Buffer.byteLength(value as string) <= 64,
  tag: isText,
};

/** Returns the error of the message, or null. Undocumented fields are errors. */
export function expoMessageFault(message: unknown): string | null {
  if (!isObject(message)) return 'must be an object';
  if (!('to' in message)) return '"to" is required';
  for (const [field, value] of Object.entries(message)) {
    const form = forms[field];
    if (form === undefined) return `"${field}" is not allowed`;
    if (!form(value)) return `"${field}" is invalid`;
  }
  return null;
}

/** Returns the size that Apple and Google would count: the parts that reach the device. */
export function payloadBytes(message: ExpoMessage): number {
  const { title, subtitle, body, data, sound, badge, interruptionLevel, categoryId } = message;
  return Buffer.byteLength(
    JSON.stringify({ title, subtitle, body, data, sound, badge, interruptionLevel, categoryId }),
  );
}
