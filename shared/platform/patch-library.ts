/** Loads a file of a library; undefined if this version does not have it. */
export function libraryFile<T>(load: NodeJS.Require, file: string): T | undefined {
  try {
    return load(file) as T;
  } catch {
    return undefined;
  }
}

/** Returns the prototype of a library's class; undefined if this version lacks the class or one of these methods. */
export function prototypeWith<T extends object>(
  type: { readonly prototype?: T } | undefined,
  methods: readonly (keyof T)[],
): T | undefined {
  const proto = type?.prototype;
  return methods.every((method) => typeof proto?.[method] === 'function') ? proto : undefined;
}

const patched = Symbol('tocsin: patched');

/** Applies a patch unless the object has it. */
export function patchOnce<T extends object>(object: T, apply: (object: T) => void): void {
  if (patched in object) return;
  apply(object);
  Object.defineProperty(object, patched, { value: true });
}
