import type { z } from 'zod';
import type { ExportOwner, ExportSection } from './export-section.ts';

/** A section whose items fit in one read. */
export function smallSection<T extends z.ZodType>(
  section: Pick<ExportSection, 'name' | 'scopes'> & { readonly schema: T },
  read: (owner: ExportOwner) => Promise<readonly z.input<T>[]>,
): ExportSection {
  return {
    ...section,
    async *pages(owner) {
      yield await read(owner);
    },
  };
}
