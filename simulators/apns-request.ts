import type { IncomingHttpHeaders } from 'node:http2';
import { apsFault } from './aps-fault.ts';
import { isObject } from './forms.ts';

/** An APNs error response. */
export interface ApnsFault {
  readonly status: number;
  readonly reason: string;
}

export interface ApnsRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const fault = (status: number, reason: string): ApnsFault => ({ status, reason });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Fatal, because a text cut within a code point is not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const pushTypes = new Set([
  'alert',
  'background',
  'location',
  'voip',
  'complication',
  'fileprovider',
  'mdm',
  'liveactivity',
  'pushtotalk',
]);

/**
 * Returns the error that APNs would return for the request, or null. Does not check the sender. Rules from
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns (headers) and
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns (reasons).
 */
export function apnsRequestFault({ headers, body }: ApnsRequest, bundleId: string): ApnsFault | null {
  // "send an HTTP/2 request", "POST", "/3/device/<device_token>"
  if (headers[':method'] !== 'POST') return fault(405, 'MethodNotAllowed');
  const [, token] = /^\/3\/device\/([^/]*)$/.exec(headers[':path'] ?? '') ?? [];
  if (token === undefined) return fault(404, 'BadPath');
  return tokenFault(token) ?? headerFault(headers, bundleId) ?? payloadFault(body);
}

/** "the hexadecimal bytes that identify the user's device" */
function tokenFault(token: string): ApnsFault | null {
  if (token === '') return fault(400, 'MissingDeviceToken');
  return /^([0-9a-f]{2}){4,100}$/i.test(token) ? null : fault(400, 'BadDeviceToken');
}

function headerFault(headers: IncomingHttpHeaders, bundleId: string): ApnsFault | null {
  const header = (name: string): string | undefined => headers[name] as string | undefined;
  const [id, topic, type, priority] = [
    header('apns-id'),
    header('apns-topic'),
    header('apns-push-type'),
    header('apns-priority'),
  ];
  // "A canonical UUID"
  if (id !== undefined && !uuid.test(id)) return fault(400, 'BadMessageId');
  // Required with a provider token; "the app's bundle ID"
  if (topic === undefined) return fault(400, 'MissingTopic');
  if (topic !== bundleId) return fault(400, 'TopicDisallowed');
  // "Required for watchOS 6 and later; recommended": a given value must be valid
  if (type !== undefined && !pushTypes.has(type)) return fault(400, 'InvalidPushType');
  // "10", "5" or "1"; a background push at 10 "is an error"
  if (priority !== undefined && !(type === 'background' ? ['5', '1'] : ['10', '5', '1']).includes(priority))
    return fault(400, 'BadPriority');
  // "a UNIX epoch expressed in seconds (UTC)"
  if (!/^\d{1,10}$/.test(header('apns-expiration') ?? '0')) return fault(400, 'BadExpirationDate');
  // "must not exceed 64 bytes"
  if (Buffer.byteLength(header('apns-collapse-id') ?? '') > 64) return fault(400, 'BadCollapseId');
  return null;
}

/**
 * "4 KB (4096 bytes)" for a regular remote notification; JSON with an `aps` dictionary. APNs itself accepts a wrong
 * field of `aps`, which the phone then ignores; the simulator rejects it, with a reason of its own.
 */
function payloadFault(body: Buffer): ApnsFault | null {
  if (body.length === 0) return fault(400, 'PayloadEmpty');
  if (body.length > 4_096) return fault(413, 'PayloadTooLarge');
  try {
    const payload: unknown = JSON.parse(utf8.decode(body));
    if (!isObject(payload) || !isObject(payload['aps'])) return fault(400, 'PayloadEmpty');
    const field = apsFault(payload['aps']);
    return field === null ? null : fault(400, `InvalidPayload: aps.${field}`);
  } catch {
    return fault(400, 'PayloadEmpty');
  }
}
