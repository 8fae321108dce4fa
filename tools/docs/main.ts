import { readFileSync, writeFileSync } from 'node:fs';
import { envExample, withConfigurationTable } from './render-configuration.ts';

// Generates the parts of the documentation that come from the code. Run it in the project root with `npm run docs`.
const page = 'docs/configuration.md';
writeFileSync(page, withConfigurationTable(readFileSync(page, 'utf8')));
writeFileSync('.env.example', envExample());
