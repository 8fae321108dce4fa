// Jest's transformer: Node's own type stripping, which keeps lines and columns, so that stack traces are exact
// without a source map and no transformer package is needed.
const { createHash } = require('node:crypto');
const { stripTypeScriptTypes } = require('node:module');

module.exports = {
  canInstrument: false,
  process: (code) => ({ code: stripTypeScriptTypes(code, { mode: 'strip' }) }),
  getCacheKey: (code, file) => createHash('sha1').update(process.version).update(file).update(code).digest('hex'),
};
