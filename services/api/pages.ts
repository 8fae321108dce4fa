import { consolePages } from './features/console/console-pages.ts';
import { getAsset } from './features/console/get-asset.ts';
import { readConsoleFiles } from './features/console/console-files.ts';
import { readDocsFiles } from './features/documents/docs-files.ts';
import { getDocs } from './features/documents/get-docs.ts';
import type { Route } from './http/route.ts';

/** What is for people's browsers: no operation of the interface, and so not in its document. */
export function pages(): Route[] {
  const [console, docs] = [readConsoleFiles(), readDocsFiles()];
  return [...consolePages(console), getDocs(docs.page), getAsset(new Map([...console, ...docs.assets]))];
}
