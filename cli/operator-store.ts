import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import { openDocuments, type OperatorStore } from '@tocsin/shared/open-engine.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';

/** What every command of the operator may be asked for. */
export interface PrintOptions {
  readonly json?: boolean;
}

/** Does something with the documents that the configuration leads to, beside a running server or without one. */
export async function withStore(act: (store: OperatorStore) => Promise<void>): Promise<void> {
  const config = loadConfig(process.env);
  const store = await openDocuments(config, openLog('cli', 'warn'));
  try {
    await act(store);
  } finally {
    await store.close();
  }
}

/** What was changed is stored by now; nodes that are not told find out within 5 s. */
export async function tellNodes(store: OperatorStore, change: Change): Promise<void> {
  try {
    await store.bus?.publish(changesChannel, [JSON.stringify(change)]);
  } catch {
    process.stderr.write('The running nodes could not be told: they will know within 5 seconds.\n');
  }
}

/** Prints an object's fields a line each, or as JSON. */
export function printObject(shown: object, options: PrintOptions): void {
  const lines = Object.entries(shown).map(([name, value]) => `${name}: ${value ?? '-'}`);
  process.stdout.write(`${options.json === true ? JSON.stringify(shown) : lines.join('\n')}\n`);
}
