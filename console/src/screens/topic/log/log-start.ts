import type { FormValues } from '../../../parts/form.tsx';

/** Where reading a log starts. */
export type LogStart =
  | { readonly kind: 'newest' | 'beginning' | 'end' }
  | { readonly kind: 'offset'; readonly offset: number }
  /** ISO 8601. */
  | { readonly kind: 'time'; readonly time: string };

export type StartKind = LogStart['kind'];

const wholeNumber = /^\d+$/;

/** Throws an Error for the user if the text is not an offset. */
function offsetOf(text: string): number {
  const offset = wholeNumber.test(text.trim()) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(offset))
    throw new Error(`“${text}” is not an offset. An offset is a whole number such as 0 or 1500.`);
  return offset;
}

/** `text` is in local time unless it names another zone. Throws an Error for the user if it is not a time. */
function timeOf(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error(`“${text}” is not a time.`);
  return time.toISOString();
}

/** The start that the query of the page's URL selects. Throws an Error for the user if its value is invalid. */
export function startOfQuery(search: string): LogStart {
  const query = new URLSearchParams(search);
  const [offset, time] = [query.get('from_offset'), query.get('from_time')];
  if (offset !== null) return { kind: 'offset', offset: offsetOf(offset) };
  if (time !== null) return { kind: 'time', time: timeOf(time) };
  return { kind: 'newest' };
}

/** The query of the page's URL that selects the start. */
export function queryOfStart(start: LogStart): string {
  switch (start.kind) {
    case 'offset':
      return `from_offset=${start.offset}`;
    case 'time':
      return `from_time=${encodeURIComponent(start.time)}`;
    case 'beginning':
      return 'from_offset=0';
    default:
      return '';
  }
}

/** The start in the fields of `StartFields` with the same prefix. Throws an Error for the user. */
export function startOfForm(values: FormValues, prefix: string): LogStart {
  const kind = values.text(`${prefix}_start`) as StartKind;
  if (kind === 'offset') return { kind, offset: offsetOf(values.text(`${prefix}_offset`)) };
  if (kind === 'time') return { kind, time: timeOf(values.text(`${prefix}_time`)) };
  return { kind };
}
