const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const date = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const complete = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 min. ago`; `just now` within a minute. */
export function timeAgo(iso: string, nowMs = Date.now()): string {
  const seconds = (Date.parse(iso) - nowMs) / 1_000;
  const step = steps.find(([, length]) => Math.abs(seconds) >= length);
  return step === undefined ? 'just now' : relative.format(Math.trunc(seconds / step[1]), step[0]);
}

/** `in 3 min.`; `now` for a time that is due, `in less than a minute` before. */
export function timeUntil(iso: string, nowMs = Date.now()): string {
  const aheadMs = Date.parse(iso) - nowMs;
  if (aheadMs <= 0) return 'now';
  if (aheadMs < 60_000) return 'in less than a minute';
  const seconds = Math.round(aheadMs / 60_000) * 60;
  const [unit, length] = steps.find(([, least]) => seconds >= least)!;
  return relative.format(Math.round(seconds / length), unit);
}

export const clockTime = (iso: string): string => clock.format(new Date(iso));
export const completeTime = (iso: string): string => complete.format(new Date(iso));

/** `Today`, `Yesterday` or the date, by the local calendar. */
export function dayName(iso: string, nowMs = Date.now()): string {
  const day = new Date(iso).toDateString();
  if (day === new Date(nowMs).toDateString()) return 'Today';
  if (day === new Date(nowMs - 86_400_000).toDateString()) return 'Yesterday';
  return date.format(new Date(iso));
}
