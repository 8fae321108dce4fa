// Jest transformer that uses Node's type stripping. It preserves lines and columns, so stack traces are exact without a
// source map or a transformer package.
const { createHash } = require('node:crypto');
const { stripTypeScriptTypes } = require('node:module');

module.exports = {
  canInstrument: false,
  process: (code) => ({ code: stripTypeScriptTypes(code, { mode: 'strip' }) }),
  getCacheKey: (code, file) => createHash('sha1').update(process.version).update(file).update(code).digest('hex'),
};
