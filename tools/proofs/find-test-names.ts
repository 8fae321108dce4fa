import ts from 'typescript';

const groups = new Set(['describe', 'describeUnlessMissing']);
const tests = new Set(['test', 'it']);

/**
 * The names of the tests in the source, each with those of its groups before it, joined by ` › ` as Jest prints them; a `*`
 * stands for what is known only when the file runs: a placeholder of `each`, a `${…}`, a name that is no literal.
 */
export function findTestNames(source: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node, outer: readonly string[]): void => {
    const named = ts.isCallExpression(node) ? namedCall(node) : undefined;
    if (named === undefined) {
      ts.forEachChild(node, (child) => visit(child, outer));
    } else if (groups.has(named.of)) {
      named.body.forEach((child) => visit(child, [...outer, named.name]));
    } else {
      names.push([...outer, named.name].join(' › '));
    }
  };
  visit(ts.createSourceFile('', source, ts.ScriptTarget.Latest), []);
  return names;
}

/** What a call like `test('…', …)` or `describe.each(rows)('…', …)` names; undefined for any other call. */
function namedCall({
  expression,
  arguments: [name, ...body],
}: ts.CallExpression): { of: string; name: string; body: readonly ts.Node[] } | undefined {
  const of = rootOf(expression);
  // `test.each(rows)` makes the function that takes the name.
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
