import { findTestNames } from './find-test-names.ts';
import type { ProofRow } from './read-proofs.ts';

/**
 * Returns the faults of the rows as sentences: a row that names no test, and a test that does not exist in the sources.
 * `readSource` returns a file's text, or undefined if it does not exist. `checkResults` checks whether the tests pass.
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
        if (names === undefined) return [`${place} file ${file} does not exist`];
        return names.some((form) => form.test(name)) ? [] : [`${place} ${file} has no test "${name}"`];
      }),
    ];
  });
}

/** Returns an expression for the name; each `*` matches any text, including `*`. */
export function asExpression(name: string): RegExp {
  return new RegExp(
    `^${name
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    's',
  );
}
