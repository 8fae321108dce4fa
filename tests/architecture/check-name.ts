import path from 'node:path/posix';
import ts from 'typescript';

/** The technology prefix of a driver file, which its exports may omit. */
const technology = /^(?:kafka|mongo|redis|bullmq|sqlite)-/;

/**
 * Returns the fault in the name of a file that exports one value (a function, class or constant) as a sentence, or
 * null. The file name must consist of the words of the export or of an exported type; either may be longer (`serve.ts`
 * exports `serveCommand`, `kafka-topic.ts` `ensureKafkaTopic`). A file with several exports is named after their topic.
 */
export function checkName(file: string, source: string): string | null {
  const { values, types } = exportsOf(source);
  if (values.length !== 1) return null;
  const name = path.basename(file).replace(/\.tsx?$/, '');
  const forms = [plain(name), plain(name.replace(technology, ''))];
  const isSaid = [...values, ...types]
    .map(plain)
    .some((word) => forms.some((form) => word.includes(form) || form.includes(word)));
  return isSaid ? null : `${file} exports ${values[0]!}: file and export must have the same name`;
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
