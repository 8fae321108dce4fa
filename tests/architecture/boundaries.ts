/**
 * The allowed imports. tests/architecture.test.ts checks the code and the table in docs/architecture.md against this
 * table.
 */
export interface Boundary {
  /**
   * A folder with its subfolders, or files (`folder/*.ts`, `folder/{a,b}.ts`). A `*` in a folder matches several
   * folders, which may not import each other. The last row that matches a file applies.
   */
  readonly of: string;
  /**
   * What its files may import in addition to each other; `!` excludes. Test code may be imported by test code and by
   * rows that name its folder. Test code may also import all of `shared` except the drivers.
   */
  readonly mayImport: readonly string[];
  /** The restricted packages that its files may import; `none`: no packages at all, not even Node's. */
  readonly packages?: readonly string[] | 'none';
}

const beneathDrivers = ['shared/domain', 'shared/wire', 'shared/ports', 'shared/async', 'shared/platform'];
const sharedButDrivers = ['shared', '!shared/drivers'];
const beneathFeatures = [
  'services/api/directory',
  'services/api/http',
  'services/api/live',
  'services/api/storing',
  'services/api/*.ts',
  ...sharedButDrivers,
];
const clusterPackages = ['kafkajs', 'mongoose', 'mongodb', 'bullmq', 'ioredis'];
const embeddedPackages = ['node:sqlite'];
const archivePackages = ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'];
const tracingPackages = ['api', 'core', 'exporter-trace-otlp-proto', 'resources', 'sdk-trace'].map(
  (name) => `@opentelemetry/${name}`,
);

/** Packages that only the rows that list them may import. */
export const ownedPackages: readonly string[] = [
  ...clusterPackages,
  ...embeddedPackages,
  ...archivePackages,
  ...tracingPackages,
];

export const boundaries: readonly Boundary[] = [
  { of: 'shared/*.ts', mayImport: ['shared'] },
  { of: 'shared/installation', mayImport: ['shared'] },
  { of: 'shared/runtime', mayImport: ['shared'] },
  { of: 'shared/domain', mayImport: [], packages: 'none' },
  { of: 'shared/platform', mayImport: [] },
  { of: 'shared/ports', mayImport: ['shared/domain'], packages: 'none' },
  { of: 'shared/wire', mayImport: ['shared/domain'] },
  { of: 'shared/async', mayImport: ['shared/domain', 'shared/ports'] },
  { of: 'shared/documents', mayImport: ['shared/domain', 'shared/ports'] },
  { of: 'shared/collections', mayImport: ['shared/domain', 'shared/ports', 'shared/async', 'shared/documents'] },
  {
    of: 'shared/operations',
    mayImport: [
      'shared/domain',
      'shared/wire',
      'shared/ports',
      'shared/async',
      'shared/documents',
      'shared/collections',
    ],
  },
  {
    of: 'shared/installation/transfer',
    mayImport: beneathDrivers,
  },
  { of: 'shared/runtime/tracing', mayImport: beneathDrivers, packages: tracingPackages },
  { of: 'shared/drivers/*.ts', mayImport: beneathDrivers },
  { of: 'shared/drivers/cluster', mayImport: [...beneathDrivers, 'shared/drivers/*.ts'], packages: clusterPackages },
  { of: 'shared/drivers/embedded', mayImport: [...beneathDrivers, 'shared/drivers/*.ts'], packages: embeddedPackages },
  { of: 'shared/drivers/archive', mayImport: beneathDrivers, packages: archivePackages },
  { of: 'shared/testing', mayImport: ['shared'] },
  { of: 'simulators', mayImport: [] },
  { of: 'console', mayImport: ['shared/wire'] },
  { of: 'clients/typescript', mayImport: [], packages: 'none' },
  { of: 'shared/contracts', mayImport: ['shared'] },
  { of: 'services/*', mayImport: sharedButDrivers },
  { of: 'services/api/directory', mayImport: sharedButDrivers },
  { of: 'services/api/http', mayImport: ['services/api/directory', ...sharedButDrivers] },
  { of: 'services/api/server', mayImport: ['services/api/http', ...sharedButDrivers] },
  { of: 'services/api/live', mayImport: ['services/api/directory', ...sharedButDrivers] },
  { of: 'services/api/storing', mayImport: sharedButDrivers },
  {
    of: 'services/api/*.ts',
    mayImport: [
      'services/api/directory',
      'services/api/http',
      'services/api/live',
      'services/api/storing',
      ...sharedButDrivers,
    ],
  },
  { of: 'services/api/export', mayImport: sharedButDrivers },
  { of: 'services/api/{access,erasure}', mayImport: beneathFeatures },
  {
    of: 'services/api/features/*',
    mayImport: ['services/api/{access,erasure}', 'services/api/export', ...beneathFeatures],
  },
  {
    of: 'services/api/{main,program,start-api,app,pages,routes,upgrade,*.test}.ts',
    mayImport: ['services/api', ...sharedButDrivers],
  },
  { of: 'cli', mayImport: ['clients/typescript', 'services', ...sharedButDrivers, 'simulators'] },
  {
    of: 'tools',
    mayImport: ['tests/support/stack.ts', 'services/notifier/providers', 'simulators', ...sharedButDrivers],
    packages: [...clusterPackages, ...embeddedPackages],
  },
  {
    of: 'tests',
    mayImport: ['tests/support/stack.ts', 'clients/typescript', 'shared', 'simulators', 'tools'],
    packages: [...clusterPackages, ...embeddedPackages],
  },
  { of: 'tests/support/stack.ts', mayImport: sharedButDrivers },
];

/** Renders the table for docs/architecture.md. */
export function boundariesAsMarkdown(): string {
  const rows = boundaries.map(
    ({ of, mayImport, packages }) => `| \`${of}\` | ${importsInWords(mayImport)} | ${packagesInWords(packages)} |`,
  );
  return ['| files | may import | restricted packages |', '|---|---|---|', ...rows].join('\n');
}

function importsInWords(mayImport: readonly string[]): string {
  if (mayImport.length === 0) return 'nothing';
  const named = mayImport.map((entry) => (entry.startsWith('!') ? ` except \`${entry.slice(1)}\`` : `, \`${entry}\``));
  return named.join('').slice(2);
}

function packagesInWords(packages: Boundary['packages']): string {
  if (packages === undefined) return '';
  return packages === 'none' ? 'no packages' : packages.map((name) => `\`${name}\``).join(', ');
}
