/** The forms of an object's fields. A field without one is not allowed. */
export type Forms = Readonly<Record<string, (value: unknown) => boolean>>;

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

/** Returns the first field of the object without a form or with an invalid value; undefined if all are valid. */
export const invalidField = (object: object, forms: Forms): string | undefined =>
  Object.entries(object).find(([field, value]) => forms[field]?.(value) !== true)?.[0];

/** Whether the value is an object whose fields have these forms. */
export const hasForm = (value: unknown, forms: Forms): boolean =>
  isObject(value) && invalidField(value, forms) === undefined;
