const columnsMax = 120;

/** Reports comments beyond column 120, except URLs. Prettier wraps code but not comments. */
export const commentLength = {
  meta: {
    type: 'layout',
    schema: [],
    messages: { long: `This comment has {{columns}} columns. The maximum is ${columnsMax}.` },
  },
  create({ sourceCode, report }) {
    return {
      Program() {
        const checked = new Set();
        for (const { loc } of sourceCode.getAllComments()) {
          for (let number = loc.start.line; number <= loc.end.line; number += 1) checked.add(number);
        }
        for (const number of checked) {
          const line = sourceCode.lines[number - 1];
          if (line.length <= columnsMax || /https?:\/\/\S/.test(line)) continue;
          const loc = { start: { line: number, column: columnsMax }, end: { line: number, column: line.length } };
          report({ loc, messageId: 'long', data: { columns: line.length } });
        }
      },
    };
  },
};
