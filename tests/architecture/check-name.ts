import path from 'node:path/posix';
import ts from 'typescript';

/** What a driver's name begins with, and its exports' need not. */
const technology = /^(?:kafka|mongo|redis|bullmq|sqlite)-/;

/**
 * What is wrong with the name of a file that exports one value (a function, a class, a constant), as a sentence, or null.
 * Its name and the export's, or that of a type beside it, are the same words; either may say more (`serve.ts` exports
 * `serveCommand`, `kafka-topic.ts` `ensureKafkaTopic`). A file that exports several is named after what they are about.
 */
export function checkName(file: string, source: string): string | null {
  const { values, types } = exportsOf(source);
  if (values.length !== 1) return null;
  const name = path.basename(file, '.ts');
  const forms = [plain(name), plain(name.replace(technology, ''))];
  const isSaid = [...values, ...types]
    .map(plain)
    .some((word) => forms.some((form) => word.includes(form) || form.includes(word)));
  return isSaid ? null : `${file} exports ${values[0]!}: the one should be named after the other`;
}

const plain = (name: string): string => name.replaceAll('-', '').toLowerCase();

function exportsOf(source: string): { values: string[]; types: string[] } {
  const values: string[] = [];
  const types: string[] = [];
  for (const statement of ts.createSourceFile('', source, ts.ScriptTarget.Latest).statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported !== true) continue;
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) types.push(statement.name.text);
    else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      values.push(statement.name?.text ?? 'default');
    else if (ts.isVariableStatement(statement))
      values.push(
        ...statement.declarationList.declarations.map(({ name }) => (ts.isIdentifier(name) ? name.text : '')),
      );
  }
  return { values, types };
}
