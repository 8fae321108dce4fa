import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import { InvalidArgumentError } from 'commander';

/** Parses an option that is a date or a time. */
export function timeOption(bareDate: 'startOfDay' | 'endOfDay'): (value: string) => number {
  return (value) => {
    const parsed = parseTime(value, bareDate);
    if (parsed === null) throw new InvalidArgumentError('It must be a date, or a time as in 2030-01-31T12:00:00Z.');
    return parsed;
  };
}
