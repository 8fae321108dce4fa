/** An FCM error response: a `google.rpc.Status` with FCM's error code. */
export interface FcmFault {
  readonly status: number;
  /** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
  readonly code: string;
  readonly message: string;
}

const invalid = (message: string): FcmFault => ({ status: 400, code: 'INVALID_ARGUMENT', message });
const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages, limited to Android. */
const messageFields = new Set([
  'name',
  'data',
  'notification',
  'android',
  'webpush',
  'apns',
  'fcm_options',
  'token',
  'topic',
  'condition',
]);
const notificationFields = new Set(['title', 'body', 'image']);
const androidFields = new Set([
  'collapse_key',
  'priority',
  'ttl',
  'restricted_package_name',
  'data',
  'notification',
  'fcm_options',
  'direct_boot_ok',
]);

/** "Must not be a reserved word": https://firebase.google.com/docs/cloud-messaging/concept-options#data_messages */
const isReserved = (key: string): boolean =>
  ['from', 'message_type', 'notification'].includes(key) || key.startsWith('google') || key.startsWith('gcm');

/** "up to 4,096 bytes" of notification and data together */
const payloadBytesMax = 4_096;

/**
 * Returns the error that FCM would return for the body of a `messages:send`, or null. Android registration tokens
 * contain a colon and no space.
 */
export function fcmMessageFault(body: unknown): FcmFault | null {
  if (!isObject(body) || !isObject(body['message']))
    return invalid('Invalid JSON payload received: "message" is required');
  const { message } = body;
  const unknown = unknownField(message, messageFields);
  if (unknown !== undefined)
    return invalid(`Invalid JSON payload received. Unknown name "${unknown}" at 'message': Cannot find field.`);
  if (!isText(message['token'])) return invalid('Recipient of the message is not set.');
  if (!/^[\w-]+:[\w-]+$/.test(message['token']))
    return invalid('The registration token is not a valid FCM registration token');
  return (
    notificationFault(message['notification']) ??
    dataFault(message['data']) ??
    androidFault(message['android']) ??
    sizeFault(message)
  );
}

const unknownField = (object: Record<string, unknown>, known: ReadonlySet<string>): string | undefined =>
  Object.keys(object).find((key) => !known.has(key));

function notificationFault(notification: unknown): FcmFault | null {
  if (notification === undefined) return null;
  if (!isObject(notification) || unknownField(notification, notificationFields) !== undefined)
    return invalid('Invalid value at message.notification');
  return Object.values(notification).every(isText) ? null : invalid('Invalid value at message.notification');
}

/** "a map of string keys and string values" */
function dataFault(data: unknown): FcmFault | null {
  if (data === undefined) return null;
  if (!isObject(data)) return invalid('Invalid value at message.data');
  for (const [key, value] of Object.entries(data)) {
    if (!isText(value)) return invalid(`Invalid value at 'message.data[${key}]' (TYPE_STRING)`);
    if (isReserved(key)) return invalid(`Invalid data payload key: ${key}`);
  }
  return null;
}

/** ttl: "a duration in seconds with up to nine fractional digits, ending with 's'", at most four weeks */
function androidFault(android: unknown): FcmFault | null {
  if (android === undefined) return null;
  if (!isObject(android)) return invalid('Invalid value at message.android');
  const unknown = unknownField(android, androidFields);
  if (unknown !== undefined)
    return invalid(`Invalid JSON payload received. Unknown name "${unknown}" at 'message.android'`);
  if (!['NORMAL', 'HIGH', 'normal', 'high', undefined].includes(android['priority'] as string | undefined))
    return invalid('Invalid value at message.android.priority');
  const { ttl } = android;
  if (ttl === undefined) return null;
  const [, seconds] = isText(ttl) ? (/^(\d+(?:\.\d{1,9})?)s$/.exec(ttl) ?? []) : [];
  return seconds !== undefined && Number(seconds) <= 28 * 86_400
    ? null
    : invalid('Invalid value at message.android.ttl');
}

function sizeFault({ notification, data }: Record<string, unknown>): FcmFault | null {
  const bytes = [notification, data]
    .flatMap((part) => Object.entries(part ?? {}))
    .reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${value}`), 0);
  return bytes > payloadBytesMax ? invalid('Message is too big') : null;
}
