import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { RequestContext } from '../../http/route.ts';
import { isPositionId, resolvePosition, type Position } from '../../live/resolve-position.ts';

export interface StreamPosition {
  /** Null starts live. */
  readonly position: Position | null;
  readonly positionId: string | null;
  /** Whether nothing was lost; undefined when no position was given. */
  readonly recovered: boolean | undefined;
}

/**
 * Where a single-topic stream goes on. `Last-Event-ID` wins over `since_id`: an EventSource repeats its old query when
 * it reconnects. A malformed header, which a browser cannot drop, starts live with `recovered` false; a malformed
 * `since_id` is a 422.
 */
export async function streamPosition(deps: ApiDeps, topic: Topic, context: RequestContext): Promise<StreamPosition> {
  const header = context.request.headers['last-event-id'];
  const sinceId = context.searchParams.getAll('since_id');
  if (sinceId.length > 1) throw new AppError('unprocessable', 'since_id: must be given once');
  const lastEventId = typeof header === 'string' ? header.trim() : '';
  if (lastEventId !== '' && !isPositionId(lastEventId)) return { position: null, positionId: null, recovered: false };
  const id = (lastEventId === '' ? sinceId[0] ?? '' : lastEventId).toLowerCase();
  if (id === '') return { position: null, positionId: null, recovered: undefined };
  if (!isPositionId(id)) throw new AppError('unprocessable', 'since_id: must be the id of a message');
  const position = await resolvePosition({ messages: deps.engine.messages, history: deps.history }, topic, { messageId: id, now: context.now });
  return { position, positionId: id, recovered: position.isExact };
}
