/** A test, as a document names it: its file, and its name with those of its groups before it, joined by ` › ` as Jest prints them. */
export interface TestReference {
  readonly file: string;
  /** A `*` stands for anything, as where a test has a row of `test.each` in its name. */
  readonly name: string;
}

/** A row of a document: what it says, and the tests that fail when that is not so. */
export interface ProofRow {
  readonly document: string;
  /** From 1. */
  readonly line: number;
  readonly row: string;
  readonly tests: readonly TestReference[];
  /** What stands where a test should be named and names none. */
  readonly unread: readonly string[];
}

/**
 * The rows, in their order, of every Markdown table whose last column is called `proved by`. There a cell is
 * `` `path/of/the.test.ts` › name ``, several separated by `<br>`. Cells that are empty give rows without tests.
 */
export function readProofs(document: string, text: string): ProofRow[] {
  const rows: ProofRow[] = [];
  let isInTable = false;
  text.split('\n').forEach((line, index) => {
    const cells = cellsOf(line);
    if (cells === undefined) {
      isInTable = false;
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
        row: cells.slice(0, -1).join(' | '),
        tests: tests.filter((test) => test !== undefined),
        unread: named.filter((_, at) => tests[at] === undefined),
      });
    }
  });
  return rows;
}

/** The cells of a line of a table, a `\|` in them being a `|`; undefined for any other line. */
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
