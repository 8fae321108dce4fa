import ts from 'typescript';

const groups = new Set(['describe', 'describeUnlessMissing', 'describeWithOwnEngines']);
const tests = new Set(['test', 'it']);

/**
 * Returns the full names of the tests in the source: group names and test name, joined by ` › ` as Jest prints them. A
 * `*` replaces the parts that are known only at run time: a placeholder of `each`, a `${…}`, a name that is not a
 * literal. Tests of only one engine, inside an `if` about `engineUnderTest`, are left out: a row needs both.
 */
export function findTestNames(source: string): string[] {
  const file = ts.createSourceFile('', source, ts.ScriptTarget.Latest);
  const names: string[] = [];
  const visit = (node: ts.Node, outer: readonly string[]): void => {
    if (ts.isIfStatement(node) && node.expression.getText(file).includes('engineUnderTest')) return;
    const named = ts.isCallExpression(node) ? namedCall(node) : undefined;
    if (named === undefined) {
      ts.forEachChild(node, (child) => visit(child, outer));
    } else if (groups.has(named.of)) {
      named.body.forEach((child) => visit(child, [...outer, named.name]));
    } else {
      names.push([...outer, named.name].join(' › '));
    }
  };
  visit(file, []);
  return names;
}

/** Returns the name in a call such as `test('…', …)` or `describe.each(rows)('…', …)`; undefined for other calls. */
function namedCall({
  expression,
  arguments: [name, ...body],
}: ts.CallExpression): { of: string; name: string; body: readonly ts.Node[] } | undefined {
  const of = rootOf(expression);
  // `test.each(rows)` returns the function that takes the name.
  const isTable = ts.isPropertyAccessExpression(expression) && expression.name.text === 'each';
  if (name === undefined || body.length === 0 || isTable || !(groups.has(of) || tests.has(of))) return undefined;
  return { of, name: textOf(name, ts.isCallExpression(expression) || ts.isTaggedTemplateExpression(expression)), body };
}

function rootOf(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return rootOf(expression.expression);
  return ts.isTaggedTemplateExpression(expression) ? rootOf(expression.tag) : '';
}

function textOf(name: ts.Expression, isOfEach: boolean): string {
  const text = ts.isStringLiteralLike(name)
    ? name.text
    : ts.isTemplateExpression(name)
      ? [name.head.text, ...name.templateSpans.map(({ literal }) => literal.text)].join('*')
      : '*';
  return isOfEach ? text.replaceAll(/%[sdifjopc#$]|\$[\w.]+/g, '*') : text;
}
