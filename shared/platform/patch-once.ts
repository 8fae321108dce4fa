const patched = Symbol('tocsin: patched');

/** Applies a patch unless the object has it. */
export function patchOnce<T extends object>(object: T, apply: (object: T) => void): void {
  if (patched in object) return;
  apply(object);
  Object.defineProperty(object, patched, { value: true });
}
