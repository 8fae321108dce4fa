import { createRequire } from 'node:module';
import { libraryFile, prototypeWith } from '../../../../platform/patch-library.ts';

/** Loads a source file of kafkajs; undefined if this version does not have it. */
export const kafkajsFile = <T>(file: string): T | undefined =>
  libraryFile<T>(createRequire(import.meta.url), `kafkajs/src/${file}`);

/** Returns the prototype of the class in a source file of kafkajs; undefined if one of these methods is missing. */
export const kafkajsPrototype = <T extends object>(file: string, methods: readonly (keyof T)[]): T | undefined =>
  prototypeWith(kafkajsFile<{ readonly prototype?: T }>(file), methods);
