import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { gemoji } from 'gemoji';
import { build, type Plugin } from 'vite';

/** The module with the emoji of each short code. The package contains ten times as much text, which browsers skip. */
const emojiModule = 'virtual:emoji';

const emojiPlugin: Plugin = {
  name: 'tocsin-emoji',
  resolveId: (id) => (id === emojiModule ? `\0${emojiModule}` : null),
  load(id) {
    if (id !== `\0${emojiModule}`) return null;
    const byName = Object.fromEntries(gemoji.flatMap(({ names, emoji }) => names.map((name) => [name, emoji])));
    return `export default ${JSON.stringify(byName)};`;
  },
};

/** Builds the console into the directory `--out` and adds a Brotli version of each text file. */
async function buildConsole(outDir: string): Promise<void> {
  await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'warn',
    plugins: [emojiPlugin],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    resolve: { alias: { react: 'preact/compat', 'react-dom': 'preact/compat' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      // OpenAPI Explorer is one file of 740 kB.
      chunkSizeWarningLimit: 800,
      // These browsers implement light-dark() and nesting.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      rollupOptions: { input: ['index', 'docs'].map((page) => join(import.meta.dirname, `${page}.html`)) },
      // The Content-Security-Policy of the console blocks data URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  const assets = join(outDir, 'assets');
  for (const name of readdirSync(assets).filter((file) => /\.(js|css)$/.test(file)))
    writeFileSync(join(assets, `${name}.br`), compress(readFileSync(join(assets, name))));
}

/** The best compression of a larger file takes seconds and saves 8 % more. */
const bestCompressionMaxBytes = 500_000;

function compress(bytes: Buffer): Buffer {
  const quality = bytes.length > bestCompressionMaxBytes ? 9 : constants.BROTLI_MAX_QUALITY;
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

const { values } = parseArgs({ options: { out: { type: 'string', default: join(import.meta.dirname, 'dist') } } });
await buildConsole(resolve(values.out));
