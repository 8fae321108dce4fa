import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { auditActions } from './audit-actions.ts';

const page = readFileSync(new URL('../../../docs/audit-log.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.*?) \| (?:`(\w+)` )?\| (?:(.*) )?\|$/gm)].map(
  ([, name, means, subject = null, details = '']) => [name, means, subject, details],
);

test('docs/audit-log.md lists all actions in the same order', () => {
  const table = Object.entries(auditActions).map(([name, { means, subject, details }]) => {
    const documented = [...Object.keys(details), ...(name.startsWith('account.email_change') ? ['former_email'] : [])];
    return [name, means, subject, documented.map((one) => `\`${one}\``).join(', ')];
  });
  expect(rows).toEqual(table);
});

test('no detail can contain a secret or user content', () => {
  const names = Object.values(auditActions).flatMap(({ details }) => Object.keys(details));
  expect(names.filter((name) => /token|secret|password|hash|key|mail|address|text|title/.test(name))).toEqual([]);
});
