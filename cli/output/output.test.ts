import { expect, test } from '@jest/globals';
import { forTerminal } from './output.ts';

test('escapes control characters and indents line breaks', () => {
  expect(forTerminal('down\u001b[2J\u009b1m\r\n2030-01-01 all is well\u202e\ttab é 日本')).toBe(
    'down\ufffd[2J\ufffd1m\n    2030-01-01 all is well\ufffd\ttab é 日本',
  );
});
