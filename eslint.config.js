import tseslint from 'typescript-eslint';
import { plainEnglish } from './tools/prose/eslint-rule.js';

export default tseslint.config(
  { plugins: { tocsin: { rules: { 'plain-english': plainEnglish } } }, rules: { 'tocsin/plain-english': 'error' } },
  {
    ignores: [
      '**/node_modules/',
      '**/data/',
      'dist/',
      'console/dist/',
      'clients/typescript/dist/',
      'clients/typescript/src/openapi.ts',
      'tmp/',
    ],
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.base],
    // The rules that need types are in .oxlintrc.json, because oxlint checks them in a quarter of the CPU time.
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      eqeqeq: ['error', 'always'],
      'no-var': 'error',
      'prefer-const': 'error',
      'no-console': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      // Prettier wraps code but not comments.
      'max-len': ['error', { code: Infinity, comments: 120, ignoreUrls: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'TSEnumDeclaration',
          message: 'Use a union of string literals: enums do not survive type stripping.',
        },
      ],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts', '**/*.contract.ts', 'tests/**'],
    rules: { 'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['console/src/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['@tocsin/*'], allowTypeImports: true, message: 'Only types: the console is a browser.' },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'Identifier[name=/^(inner|outer|set)HTML|^dangerouslySetInnerHTML$|^insertAdjacentHTML$|^write(ln)?$/],' +
            'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'External input must be inserted as text, never parsed as HTML.',
        },
      ],
    },
  },
  {
    files: ['cli/**/*.ts', 'services/**/*.ts', 'shared/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.fixtures.ts', 'shared/testing/**', 'shared/contracts/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [{ name: 'node:http', allowTypeImports: true, message: 'Use shared/platform/node-http.ts.' }] },
      ],
    },
  },
  { files: ['cli/**', 'tools/**', 'tests/**'], rules: { 'no-console': 'off' } },
);
