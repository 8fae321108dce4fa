const { registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { default: JestRuntime } = require('jest-runtime');

const globalsUrl = pathToFileURL(join(__dirname, 'jest-globals.mjs')).href;

registerHooks({
  resolve: (specifier, context, resolveNext) =>
    specifier === '@jest/globals' ? { url: globalsUrl, shortCircuit: true } : resolveNext(specifier, context),
});

const refuseMock = () => {
  throw new Error('Modules cannot be mocked: Node loads them, not Jest.');
};

/**
 * Runs test files as Node runs any program, instead of in a VM context with Jest's own module loader. A worker loads
 * each module once, not once per test file. Requires `native-environment.cjs`.
 */
class NativeRuntime extends JestRuntime {
  async unstable_importModule(path) {
    const { setGlobals } = await import(globalsUrl);
    setGlobals(this.jestGlobals.cjsGlobals(path));
    return import(pathToFileURL(path).href);
  }

  unstable_shouldLoadAsEsm() {
    return true; // Node decides
  }

  /** Loads the test framework, again for each test file, because it keeps the tests of the file in its modules. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  /** Jest replaces `process.getBuiltinModule`, which would change it for Jest, too. */
  installGetBuiltinModule() {}

  setMock = refuseMock;
  setModuleMock = refuseMock;
}

module.exports = { __esModule: true, default: NativeRuntime };
