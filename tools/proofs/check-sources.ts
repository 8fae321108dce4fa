import { findTestNames } from './find-test-names.ts';
import type { ProofRow } from './read-proofs.ts';

/**
 * What is wrong with the rows as they stand, each as a sentence: a row that names no test, and a test that is in no source.
 * `readSource` gives a file's text, or undefined when it is not there. Whether the tests pass is for a run to say.
 */
export function checkSources(rows: readonly ProofRow[], readSource: (file: string) => string | undefined): string[] {
  const found = new Map<string, RegExp[] | undefined>();
  const namesIn = (file: string): RegExp[] | undefined => {
    if (!found.has(file)) {
      const source = readSource(file);
      found.set(file, source === undefined ? undefined : findTestNames(source).map(asExpression));
    }
    return found.get(file);
  };
  return rows.flatMap((row) => {
    const place = `${row.document}:${row.line}: ${row.row}:`;
    if (row.tests.length + row.unread.length === 0) return [`${place} names no test`];
    return [
      ...row.unread.map((text) => `${place} \`${text}\` is not of the form \`file\` › name`),
      ...row.tests.flatMap(({ file, name }) => {
        const names = namesIn(file);
        if (names === undefined) return [`${place} there is no file ${file}`];
        return names.some((form) => form.test(name)) ? [] : [`${place} ${file} has no test "${name}"`];
      }),
    ];
  });
}

/** Matches a name in which each `*` is anything, itself included. */
export function asExpression(name: string): RegExp {
  return new RegExp(
    `^${name
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    's',
  );
}
