import { z } from 'zod';
import type { RequestContext } from '../../http/route.ts';
import { parseCompositePosition } from '../../live/composite-position.ts';
import { isPositionId } from '../../live/resolve-position.ts';

/** The position of a client. `malformed`: an invalid header that the client cannot drop. */
export type Given<P> = P | 'malformed' | undefined;

/**
 * Reads the client's position. `Last-Event-ID` takes precedence over the query: an EventSource repeats its old query
 * when it reconnects. A malformed header is not an error, because a browser cannot drop it.
 */
export function givenPosition<P>(
  context: RequestContext,
  sinceId: P | undefined,
  parse: (text: string) => P | null,
): Given<P> {
  const header = context.request.headers['last-event-id'];
  const lastEventId = typeof header === 'string' ? header.trim() : '';
  if (lastEventId === '') return sinceId;
  return parse(lastEventId) ?? 'malformed';
}

/** Returns the ID of a message, or the nil UUID, in lower case; null for anything else. */
export function parsePositionId(text: string): string | null {
  return isPositionId(text) ? text.toLowerCase() : null;
}

/** The `since_id` of a stream of one topic; blank means none. */
export const sinceIdField = z
  .string()
  .transform((text, context) => {
    if (text === '') return undefined;
    const id = parsePositionId(text);
    if (id === null) context.addIssue({ code: 'custom', message: 'must be the id of a message' });
    return id ?? z.NEVER;
  })
  .optional()
  .describe('The ID of the last received message, or the nil UUID for the beginning. The stream starts after it.');

/** The `since_id` of a stream of several topics, as IDs by name key; blank means none. */
export const sinceIdsField = z
  .string()
  .transform((text, context) => {
    if (text === '') return undefined;
    const ids = parseCompositePosition(text);
    if (ids === null)
      context.addIssue({
        code: 'custom',
        message: 'must be topic:id pairs, separated by commas, each with the id of a message',
      });
    return ids ?? z.NEVER;
  })
  .optional()
  .describe(
    '`topic1:id1,topic2:id2`, like the IDs of events: the last received message of each topic, or the nil UUID for its beginning.',
  );

/** The header with the client's position. */
export const positionHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .describe(
      'The ID of the last received event, as an EventSource sends it when it reconnects. Takes precedence over `since_id`.',
    ),
});
