import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedStack } from '../stack/start-stack.ts';
import { buildClient } from './build-client.ts';
import { renderClientTypes } from './render-client-types.ts';

// `npm run client`: renders the types of the client from the server's OpenAPI document and compiles the client.
const stack = await startEmbeddedStack();
try {
  const response = await fetch(`${stack.urls[0]}/openapi.json`);
  const types = join(import.meta.dirname, '..', '..', 'clients', 'typescript', 'src', 'openapi.ts');
  writeFileSync(types, await renderClientTypes((await response.json()) as Parameters<typeof renderClientTypes>[0]));
} finally {
  await stack.stop();
}
process.stdout.write(`${buildClient()}\n`);
