import tseslint from 'typescript-eslint';
import { plainEnglish } from './tools/prose/eslint-rule.js';

const browserGlobals = [
  'AbortController',
  'Event',
  'EventSource',
  'TextDecoder',
  'URLSearchParams',
  'addEventListener',
  'atob',
  'crypto',
  'dispatchEvent',
  'document',
  'fetch',
  'history',
  'location',
  'sessionStorage',
  'setTimeout',
];

export default tseslint.config(
  { plugins: { tocsin: { rules: { 'plain-english': plainEnglish } } }, rules: { 'tocsin/plain-english': 'error' } },
  { ignores: ['**/node_modules/', '**/data/', 'tmp/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // An unawaited promise hides errors.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
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
    files: ['**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.contract.ts', 'tests/**'],
    rules: { 'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }] },
  },
  {
    // Console scripts run in browsers without a build step.
    files: ['services/api/console/*.js'],
    languageOptions: { globals: Object.fromEntries(browserGlobals.map((name) => [name, 'readonly'])) },
    rules: {
      eqeqeq: ['error', 'always'],
      'no-var': 'error',
      'prefer-const': 'error',
      'no-undef': 'error',
      'no-unused-vars': 'error',
      'no-console': 'error',
      'no-eval': 'error',
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', 70],
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'Identifier[name=/^(inner|outer|set)HTML|^insertAdjacentHTML$|^write(ln)?$/]',
          message: 'External input must be inserted as text: use element() of element.js.',
        },
      ],
    },
  },
  { files: ['cli/**', 'tools/**', 'tests/**'], rules: { 'no-console': 'off' } },
);
