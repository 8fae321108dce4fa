import { variableGroups, type VariableRow } from '@tocsin/shared/platform/variables.ts';

/** Markers around the table in docs/configuration.md. */
const tableMarks = { begin: '<!-- npm run docs: variables -->', end: '<!-- /variables -->' } as const;

/** Renders the table of all variables for docs/configuration.md. */
function configurationTable(): string {
  const rows = variableGroups.flatMap((group) => describedTogether(group.rows)).map(tableRow);
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n').replaceAll('|  |', '| |');
}

/** A variable, and the following ones without a description of their own. */
type DescribedRows = readonly [VariableRow, ...VariableRow[]];

function describedTogether(rows: readonly VariableRow[]): DescribedRows[] {
  const groups: [VariableRow, ...VariableRow[]][] = [];
  for (const row of rows)
    if (row.description === '') groups.at(-1)!.push(row);
    else groups.push([row]);
  return groups;
}

function tableRow(rows: DescribedRows): string {
  const names = rows.map(({ name }) => `\`${name}\``).join(', ');
  const defaults = new Set(rows.map(shownDefault).filter((text) => text !== ''));
  return `| ${names} | ${[...defaults].join(', ')} | ${rows[0].description} |`;
}

/** An empty text for a variable without a default. */
function shownDefault({ defaultValue, defaultText }: VariableRow): string {
  return defaultValue === undefined ? (defaultText ?? '') : `\`${defaultValue}\``;
}

/** Returns the page with a regenerated table. */
export function withConfigurationTable(page: string): string {
  const { begin, end } = tableMarks;
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page lacks ${begin} and ${end}`);
  return `${page.slice(0, from)}${begin}\n${configurationTable()}\n${page.slice(to)}`;
}

/** Renders `.env.example`. Secrets, and variables that need no example, have no value. */
export function envExample(): string {
  const groups = variableGroups.map(({ heading, rows }) =>
    [
      `# ${heading}`,
      ...rows.map(({ name, defaultValue, example }) => `#${name}=${defaultValue ?? example ?? ''}`),
    ].join('\n'),
  );
  return `# Copy to .env and uncomment the variables that you set; docs/configuration.md describes them. The environment overrides .env.
# Values are defaults where one exists, otherwise examples.

${groups.join('\n\n')}
`;
}
