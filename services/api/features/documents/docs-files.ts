import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { kept, keptBriefly, readStaticFile, staticFile, type StaticFile } from '../../http/static-file.ts';

/** The page of `/docs` and the files that it loads from `/assets/`. */
export interface DocsFiles {
  readonly page: StaticFile;
  readonly assets: ReadonlyMap<string, StaticFile>;
}

/** The page shows `/openapi.json` with OpenAPI Explorer, whose package ships it as one file. */
export function readDocsFiles(): DocsFiles {
  const manifest = createRequire(import.meta.url).resolve('openapi-explorer/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const explorerName = `openapi-explorer-${version}.js`;
  return {
    page: staticFile('docs.html', pageOf(`/assets/${explorerName}`), keptBriefly),
    assets: new Map([
      [explorerName, readStaticFile(join(dirname(manifest), 'dist/browser/openapi-explorer.min.js'), kept)],
    ]),
  };
}

const pageOf = (script: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tocsin API</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/docs.css">
<script type="module" src="${script}"></script>
</head>
<body>
<openapi-explorer spec-url="/openapi.json" collapse hide-server-selection default-schema-tab="body">
<noscript>This page requires JavaScript. The same content is in <a href="/openapi.json">/openapi.json</a>.</noscript>
</openapi-explorer>
</body>
</html>
`;
