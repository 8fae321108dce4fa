import { createRequire } from 'node:module';
import { libraryFile, prototypeWith, replaceExport } from '../../../../platform/patch-library.ts';

const load = createRequire(import.meta.url);
const pathOf = (file: string): string => `kafkajs/src/${file}`;

/** Loads a source file of kafkajs; undefined if this version does not have it. */
export const kafkajsFile = <T>(file: string): T | undefined => libraryFile<T>(load, pathOf(file));

/** Returns the prototype of the class in a source file of kafkajs; undefined if one of these methods is missing. */
export const kafkajsPrototype = <T extends object>(file: string, methods: readonly (keyof T)[]): T | undefined =>
  prototypeWith(kafkajsFile<{ readonly prototype?: T }>(file), methods);

/** Replaces the function that a source file of kafkajs exports, as `replaceExport` describes. */
export const replaceKafkajsExport = <T extends (...args: never[]) => unknown>(
  file: string,
  { usedBy, replace }: { readonly usedBy: string; readonly replace: (former: T) => T },
): boolean => replaceExport<T>(load, pathOf(file), { usedBy: pathOf(usedBy), replace });
