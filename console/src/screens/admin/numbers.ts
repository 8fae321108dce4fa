const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export const formatNumber = (value: number): string => number.format(value);

/** `1 message`, `2 messages`. */
export const countOf = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `1.5 MB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(Math.floor(Math.log(Math.max(1, bytes)) / Math.log(1_024)), units.length - 1);
  return `${formatNumber(bytes / 1_024 ** step)} ${units[step]}`;
}
