import {
  hasForm,
  invalidField,
  isBoolean,
  isCount,
  isNumber,
  isObject,
  isText,
  isTexts,
  oneOf,
  type Forms,
} from './forms.ts';

/** An FCM error response: a `google.rpc.Status` with FCM's error code. */
export interface FcmFault {
  readonly status: number;
  /** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
  readonly code: string;
  readonly message: string;
}

const invalid = (message: string): FcmFault => ({ status: 400, code: 'INVALID_ARGUMENT', message });

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

/** "a duration in seconds with up to nine fractional digits, ending with 's'" */
const duration = /^(\d+(?:\.\d{1,9})?)s$/;
const isDuration = (value: unknown): boolean => isText(value) && duration.test(value);
const isColorPart = (value: unknown): boolean => isNumber(value) && value >= 0 && value <= 1;
const lightForms: Forms = {
  color: (value) => hasForm(value, { red: isColorPart, green: isColorPart, blue: isColorPart, alpha: isColorPart }),
  light_on_duration: isDuration,
  light_off_duration: isDuration,
};

/** https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#androidnotification */
const androidNotificationForms: Forms = {
  title: isText,
  body: isText,
  icon: isText,
  color: (value) => isText(value) && /^#[0-9a-f]{6}$/i.test(value),
  sound: isText,
  tag: isText,
  click_action: isText,
  body_loc_key: isText,
  body_loc_args: isTexts,
  title_loc_key: isText,
  title_loc_args: isTexts,
  channel_id: isText,
  ticker: isText,
  sticky: isBoolean,
  event_time: isText,
  local_only: isBoolean,
  notification_priority: oneOf(
    'PRIORITY_UNSPECIFIED',
    'PRIORITY_MIN',
    'PRIORITY_LOW',
    'PRIORITY_DEFAULT',
    'PRIORITY_HIGH',
    'PRIORITY_MAX',
  ),
  default_sound: isBoolean,
  default_vibrate_timings: isBoolean,
  default_light_settings: isBoolean,
  vibrate_timings: (value) => isTexts(value) && value.every(isDuration),
  visibility: oneOf('VISIBILITY_UNSPECIFIED', 'PRIVATE', 'PUBLIC', 'SECRET'),
  notification_count: isCount,
  light_settings: (value) => hasForm(value, lightForms),
  image: isText,
  proxy: oneOf('PROXY_UNSPECIFIED', 'ALLOW', 'DENY', 'IF_PRIORITY_LOWERED'),
};

/** https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#androidconfig */
const androidForms: Forms = {
  collapse_key: isText,
  priority: oneOf('NORMAL', 'HIGH', 'normal', 'high'),
  // "at most four weeks"
  ttl: (value) => isText(value) && Number(duration.exec(value)?.[1] ?? NaN) <= 28 * 86_400,
  restricted_package_name: isText,
  data: isObject,
  notification: isObject,
  fcm_options: (value) => hasForm(value, { analytics_label: isText }),
  direct_boot_ok: isBoolean,
};

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

function androidFault(android: unknown): FcmFault | null {
  if (android === undefined) return null;
  if (!isObject(android)) return invalid('Invalid value at message.android');
  return (
    fieldFault('message.android', android, androidForms) ??
    dataFault(android['data']) ??
    fieldFault('message.android.notification', android['notification'] ?? {}, androidNotificationForms)
  );
}

/** Google rejects unknown fields and wrong types. */
function fieldFault(at: string, object: object, forms: Forms): FcmFault | null {
  const field = invalidField(object, forms);
  if (field === undefined) return null;
  return invalid(
    forms[field] === undefined
      ? `Invalid JSON payload received. Unknown name "${field}" at '${at}': Cannot find field.`
      : `Invalid value at '${at}.${field}'`,
  );
}

function sizeFault({ notification, data }: Record<string, unknown>): FcmFault | null {
  const bytes = [notification, data]
    .flatMap((part) => Object.entries(part ?? {}))
    .reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${value}`), 0);
  return bytes > payloadBytesMax ? invalid('Message is too big') : null;
}
