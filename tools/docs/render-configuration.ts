import { variableGroups, type VariableRow } from '@tocsin/shared/platform/variables.ts';

/** What stands before and after the table in docs/configuration.md. */
const tableMarks = { begin: '<!-- npm run docs: variables -->', end: '<!-- /variables -->' } as const;

/** The table of all variables, for docs/configuration.md. */
function configurationTable(): string {
  const rows = variableGroups
    .flatMap((group) => group.rows)
    .map((row) => `| \`${row.name}\` | ${shownDefault(row)} | ${row.about} |`);
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n').replaceAll('|  |', '| |');
}

function shownDefault({ byDefault, shown }: VariableRow): string {
  return byDefault === undefined ? (shown ?? 'none') : `\`${byDefault}\``;
}

/** The page with its table made anew. */
export function withConfigurationTable(page: string): string {
  const { begin, end } = tableMarks;
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page lacks ${begin} and ${end}`);
  return `${page.slice(0, from)}${begin}\n${configurationTable()}\n${page.slice(to)}`;
}

/** The text of `.env.example`. No secret has a value in it, nor has any variable that does not need one to be understood. */
export function envExample(): string {
  const groups = variableGroups.map(({ heading, rows }) =>
    [`# ${heading}`, ...rows.map(({ name, byDefault, example }) => `#${name}=${byDefault ?? example ?? ''}`)].join(
      '\n',
    ),
  );
  return `# Copy to .env and uncomment what you set; docs/configuration.md says what each means. The environment wins over .env.
# Where there is a default it is shown; the other values are examples.

${groups.join('\n\n')}
`;
}
