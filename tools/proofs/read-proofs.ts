/**
 * A test as a document names it: its file and its full name, with the group names joined by ` › ` as Jest prints them.
 */
export interface TestReference {
  readonly file: string;
  /** A `*` matches any text, for example the row of `test.each` in a name. */
  readonly name: string;
}

/** A row of a document: its claim and the tests that fail if the claim is false. */
export interface ProofRow {
  readonly document: string;
  /** From 1. */
  readonly line: number;
  /** The second-level heading above the table, or an empty text. */
  readonly section: string;
  readonly row: string;
  readonly tests: readonly TestReference[];
  /** Entries of the proofs column that do not name a test. */
  readonly unread: readonly string[];
}

/**
 * Returns the rows, in order, of every Markdown table whose last column is `proved by`. Its cells contain
 * `` `path/of/the.test.ts` › name ``, separated by `<br>`. An empty cell results in a row without tests.
 */
export function readProofs(document: string, text: string): ProofRow[] {
  const rows: ProofRow[] = [];
  let isInTable = false;
  let section = '';
  text.split('\n').forEach((line, index) => {
    const cells = cellsOf(line);
    if (cells === undefined) {
      isInTable = false;
      section = /^## (?<title>.+)$/.exec(line)?.groups?.['title'] ?? section;
    } else if (cells.at(-1) === 'proved by') {
      isInTable = true;
    } else if (isInTable && !cells.every((cell) => /^:?-+:?$/.test(cell))) {
      const named = cells
        .at(-1)!
        .split('<br>')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      const tests = named.map(referenceOf);
      rows.push({
        document,
        line: index + 1,
        section,
        row: cells.slice(0, -1).join(' | '),
        tests: tests.filter((test) => test !== undefined),
        unread: named.filter((_, at) => tests[at] === undefined),
      });
    }
  });
  return rows;
}

/** Returns the cells of a table line with `\|` unescaped; undefined for other lines. */
function cellsOf(line: string): string[] | undefined {
  if (!/^\|.*\|\s*$/.test(line)) return undefined;
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function referenceOf(text: string): TestReference | undefined {
  const { file, name } = /^`(?<file>[^`]+)` › (?<name>.+)$/.exec(text)?.groups ?? {};
  return file === undefined || name === undefined ? undefined : { file, name };
}
