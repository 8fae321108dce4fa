import { readFileSync, writeFileSync } from 'node:fs';
import { envExample, withConfigurationTable } from './render-configuration.ts';

// Writes what of the documentation is made from the code: run in the project's root, by `npm run docs`.
const page = 'docs/configuration.md';
writeFileSync(page, withConfigurationTable(readFileSync(page, 'utf8')));
writeFileSync('.env.example', envExample());
