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

/**
 * Replaces the function that a file of a library exports, unless that was done before. Returns whether it is replaced:
 * not if this version lacks one of the files, or if the one that uses the function has already loaded it.
 */
export function replaceExport<T extends (...args: never[]) => unknown>(
  load: NodeJS.Require,
  file: string,
  { usedBy, replace }: { readonly usedBy: string; readonly replace: (former: T) => T },
): boolean {
  const former = libraryFile<T>(load, file);
  if (typeof former !== 'function') return false;
  if (patched in former) return true;
  const module = load.cache[load.resolve(file)];
  const userPath = pathOf(load, usedBy);
  if (module === undefined || userPath === undefined || load.cache[userPath] !== undefined) return false;
  const replacement = replace(former);
  patchOnce(replacement, () => undefined);
  module.exports = replacement;
  return true;
}

function pathOf(load: NodeJS.Require, file: string): string | undefined {
  try {
    return load.resolve(file);
  } catch {
    return undefined;
  }
}
