import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { sinkSchema } from '@tocsin/shared/wire/sink.ts';
import type { ExportSection } from '../../export/export-section.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { describeSinks } from './describe-sinks.ts';

const pageSize = 100;

/** The sinks that the account created, oldest first, without secrets. */
export function exportSinks(deps: Pick<ApiDeps, 'clock' | 'engine' | 'history'>): ExportSection {
  const { documents } = deps.engine;
  return {
    name: 'sinks',
    scopes: ['topics:read'],
    schema: sinkSchema,
    async *pages({ caller: { userId } }) {
      for (let offset = 0; ; offset += pageSize) {
        const found = await documents.find(sinks, {
          index: 'byCreator',
          equals: { createdBy: userId },
          limit: pageSize,
          offset,
        });
        yield await describeSinks(deps, found);
        if (found.length < pageSize) return;
      }
    },
  };
}
