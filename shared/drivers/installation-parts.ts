import type { AnyCollection } from '../ports/document-checks.ts';
import type { Part, StoreRows } from '../ports/installation-rows.ts';

/**
 * Finds a part of an installation by name: a store part or a document collection. Throws TypeError for an unknown name.
 */
export function installationParts<P>(
  ofStores: Record<keyof StoreRows, P>,
  collections: readonly AnyCollection[],
  ofCollection: (collection: AnyCollection) => P,
): (name: Part) => P {
  const parts = new Map<Part, P>([
    ...Object.entries<P>(ofStores),
    ...collections.map((collection) => [collection.name, ofCollection(collection)] as const),
  ]);
  return (name) => {
    const part = parts.get(name);
    if (part === undefined) throw new TypeError(`an installation has no part ${name}`);
    return part;
  };
}
