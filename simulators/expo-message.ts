/** A push in Expo's documented format; the simulator rejects everything else. */
export interface ExpoMessage {
  readonly to: string;
  readonly data?: { readonly [key: string]: unknown };
  readonly title?: string;
  readonly subtitle?: string;
  readonly body?: string;
  readonly sound?: string | null;
  readonly ttl?: number;
  readonly expiration?: number;
  readonly priority?: 'default' | 'normal' | 'high';
  readonly badge?: number;
  readonly channelId?: string;
  readonly categoryId?: string;
  readonly mutableContent?: boolean;
  readonly collapseId?: string;
  readonly tag?: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const forms: { readonly [field: string]: (value: unknown) => boolean } = {
  to: (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  data: isObject,
  title: isText,
  subtitle: isText,
  body: isText,
  sound: (value) => value === null || isText(value) || isObject(value),
  ttl: isCount,
  expiration: isCount,
  priority: (value) => ['default', 'normal', 'high'].includes(value as string),
  badge: isCount,
  channelId: isText,
  categoryId: isText,
  mutableContent: (value) => typeof value === 'boolean',
  // Apple's limit for apns-collapse-id.
  collapseId: (value) => isText(value) && Buffer.byteLength(value as string) <= 64,
  tag: isText,
};

/** Returns the error of the message, or null. Undocumented fields are errors. */
export function expoMessageFault(message: unknown): string | null {
  if (!isObject(message)) return 'must be an object';
  if (!('to' in (message as object))) return '"to" is required';
  for (const [field, value] of Object.entries(message as object)) {
    const hasForm = forms[field];
    if (hasForm === undefined) return `"${field}" is not allowed`;
    if (!hasForm(value)) return `"${field}" is invalid`;
  }
  return null;
}

/** Returns the size that Apple and Google would count: the parts that reach the device. */
export function payloadBytes(message: ExpoMessage): number {
  const { title, subtitle, body, data, sound, categoryId } = message;
  return Buffer.byteLength(JSON.stringify({ title, subtitle, body, data, sound, categoryId }));
}
