import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { openLogger } from './logger.ts';

function collect() {
  const chunks: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { log: openLogger('test', 'trace', destination), lines: () => chunks.join('').split('\n').slice(0, -1) };
}

test.each(['a\nb', 'a\r\n{"level":"fatal","msg":"forged"}', 'a\u2028b\u0085c', 'a\u0000b', '\u001b[2Ja', '"}\n{"a":"'])(
  'keeps a log entry with %j on one line',
  (text) => {
    const { log, lines } = collect();
    log.info({ [text]: text, nested: { text } }, text);
    log.warn({ err: new Error(text) }, 'failed');
    expect(lines()).toHaveLength(2);
    expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'info', msg: text, [text]: text, nested: { text } },
      { level: 'warn', msg: 'failed' },
    ]);
    // Escapes terminal control sequences, too.
    for (const line of lines()) expect(line).not.toMatch(/[\u0000-\u001f]/);
  },
);

test('logs name, message, code and causes of an error, without its other fields', () => {
  const { log, lines } = collect();
  const cause = Object.assign(new Error('the store said no'), { document: { message: 'a text' } });
  log.error(
    {
      err: Object.assign(new RangeError('a write failed', { cause }), {
        code: 'E11000',
        writeErrors: [{ op: { token: 'tk_secret' } }],
      }),
    },
    'failed',
  );
  const [line] = lines();
  expect(JSON.parse(line!)).toMatchObject({
    err: {
      type: 'RangeError',
      message: 'a write failed: the store said no',
      code: 'E11000',
      stack: expect.stringContaining('caused by'),
    },
  });
  expect(line).not.toMatch(/a text|tk_secret/);
});
