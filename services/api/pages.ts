import { consolePages } from './features/console/console-pages.ts';
import { getAsset } from './features/console/get-asset.ts';
import { readConsoleFiles } from './features/console/console-files.ts';
import { readDocsFiles } from './features/documents/docs-files.ts';
import { getDocs } from './features/documents/get-docs.ts';
import type { Route } from './http/route.ts';

/** Pages for browsers, which are not operations of the interface and not in its document. */
export function pages(): Route[] {
  const [console, docs] = [readConsoleFiles(), readDocsFiles()];
  return [...consolePages(console), getDocs(docs.page), getAsset(new Map([...console, ...docs.assets]))];
}
