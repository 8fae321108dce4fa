import { createRequire } from 'node:module';

/** Loads a source file of kafkajs; undefined if this version does not have it. */
export function kafkajsFile<T>(file: string): T | undefined {
  try {
    return createRequire(import.meta.url)(`kafkajs/src/${file}`) as T;
  } catch {
    return undefined;
  }
}

/** Returns the prototype of the class in a source file of kafkajs; undefined if one of these methods is missing. */
export function kafkajsPrototype<T extends object>(file: string, methods: readonly (keyof T)[]): T | undefined {
  const proto = kafkajsFile<{ readonly prototype?: T }>(file)?.prototype;
  return methods.every((method) => typeof proto?.[method] === 'function') ? proto : undefined;
}
