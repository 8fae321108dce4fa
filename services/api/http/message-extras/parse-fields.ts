import { AppError } from '@tocsin/shared/domain/errors.ts';

/** The parser of each field; throws 422 for an invalid value. */
export type FieldParsers<T> = { readonly [field in keyof T]: () => T[field] };

/** Parses all fields. Throws one 422 that reports all invalid fields in order. */
export function parseFields<T extends object>(parsers: FieldParsers<T>): T {
  const parsed: Partial<T> = {};
  const faults: string[] = [];
  for (const field of Object.keys(parsers) as (keyof T)[]) {
    try {
      parsed[field] = parsers[field]();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unprocessable') throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new AppError('unprocessable', faults.join('; '));
  return parsed as T;
}
