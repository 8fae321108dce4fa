import { userInfo } from 'node:os';
import type { Change } from '@tocsin/shared/domain/change.ts';
import { publishChanges } from '@tocsin/shared/operations/publish-changes.ts';
import { openDocuments, type OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import { auditBy, type Audit } from '@tocsin/shared/collections/audit-log.ts';
import { commandLogger } from '../output/command-logger.ts';
import { forTerminal } from '../output/output.ts';

/** Records operator actions in the audit log with the name of the system user. */
export function operatorAudit(): Audit {
  return auditBy(
    { makeId: idSource(systemClock), clock: systemClock },
    {
      actor: 'operator',
      through: 'cli',
      credentialId: null,
      address: null,
      userAgent: `tocsin, run by ${systemUser()}`,
    },
  );
}

/** In a container the user may have no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Options of every operator command. */
export interface PrintOptions {
  readonly json?: boolean;
}

/** Calls `act` with the configured store. Works with or without a running server. */
export async function withStore(act: (store: OperatorStore, config: Config) => Promise<void>): Promise<void> {
  const config = loadConfig(process.env);
  const store = await openDocuments(config, commandLogger('warn'));
  try {
    await act(store, config);
  } finally {
    await store.close();
  }
}

/** Notifies the running nodes of stored changes. Nodes that miss it reload within 5 s. */
export async function notifyNodes(store: OperatorStore, ...changes: readonly Change[]): Promise<void> {
  try {
    if (store.openBus !== null) await publishChanges(await store.openBus(), changes);
  } catch {
    process.stderr.write('Could not notify the running nodes: they reload within 5 seconds.\n');
  }
}

/** Prints one line per row in columns, or all rows as one line of JSON. */
export function printRows<T>(
  rows: readonly T[],
  partsOf: (row: T) => readonly (string | null)[],
  options: PrintOptions,
): void {
  if (options.json === true) return void process.stdout.write(`${JSON.stringify(rows)}\n`);
  const table = rows.map((row) => partsOf(row).map((part) => forTerminal(part ?? '-').replaceAll('\n', ' ')));
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((parts) => parts[column]!.length)));
  for (const parts of table)
    process.stdout.write(
      `${parts
        .map((part, column) => part.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    );
}

/** Prints one line per field, or the object as JSON. */
export function printObject(shown: object, options: PrintOptions): void {
  const lines = Object.entries(shown).map(([name, value]) => `${name}: ${forTerminal(String(value ?? '-'))}`);
  process.stdout.write(`${options.json === true ? JSON.stringify(shown) : lines.join('\n')}\n`);
}
