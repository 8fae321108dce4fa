import { z } from 'zod';
import type { RequestContext } from '../../http/route.ts';
import { parseCompositePosition } from '../../live/composite-position.ts';
import { isPositionId } from '../../live/resolve-position.ts';

/** Where a client says that it is. `malformed`: it said so in a way that cannot be read, and that it cannot take back. */
export type Given<P> = P | 'malformed' | undefined;

/**
 * Reads the client's position. `Last-Event-ID` wins over what the query says: an EventSource repeats its old query when it
 * reconnects. A malformed header, which a browser cannot drop, is no error.
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

/** The id of a message, or the nil UUID, in lower case; null for anything else. */
export function parsePositionId(text: string): string | null {
  return isPositionId(text) ? text.toLowerCase() : null;
}

/** The `since_id` of a stream of one topic; a blank one is none. */
export const sinceIdField = z
  .string()
  .transform((text, context) => {
    if (text === '') return undefined;
    const id = parsePositionId(text);
    if (id === null) context.addIssue({ code: 'custom', message: 'must be the id of a message' });
    return id ?? z.NEVER;
  })
  .optional()
  .describe('The id of the last message seen, or the nil UUID for the beginning: only messages behind it come.');

/** The `since_id` of a stream of several topics, as ids by name keys; a blank one is none. */
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
    '`topic1:id1,topic2:id2`, as events carry it as their id: for each topic the last message seen, or the nil UUID for its beginning.',
  );

/** The header that positions come by. */
export const positionHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('The id of the last event seen, as an EventSource sends it when it reconnects. Wins over `since_id`.'),
});
