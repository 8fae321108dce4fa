import type { PushLimits } from '../sending/push-deps.ts';

/** The size of the page after `after`; null: the first page. */
export const pageSizeOf = (
  { firstPageSize, pageSize }: Pick<PushLimits, 'firstPageSize' | 'pageSize'>,
  after: string | null,
): number => (after === null ? firstPageSize : pageSize);
