import { planQuery, type AnyCollection } from '../../ports/document-checks.ts';
import {
  StaleVersion,
  UniqueKeyViolation,
  type Collection,
  type Document,
  type Query,
  type Write,
} from '../../ports/documents.ts';

/** Returns all keys that a write would violate; a store may report any of them. */
export class ModelViolation extends UniqueKeyViolation {
  readonly keys: readonly string[];
  constructor(collection: string, keys: readonly string[]) {
    super(collection, keys[0]!);
    this.keys = keys;
  }
}

type Values = { readonly [field: string]: unknown } & Document;

/** A minimal model of the documents port: a map and the documented rules. */
export class DocumentsModel {
  #documents = new Map<string, Values>();

  get(id: string): Document | null {
    return this.#documents.get(id) ?? null;
  }

  find<T extends Document>(collection: Collection<T>, query: Query<T>): T[] {
    const offset = query.offset ?? 0;
    return this.#matching(collection, query).slice(offset, offset + query.limit);
  }

  count<T extends Document>(collection: Collection<T>, query: Query<T>): number {
    return this.#matching(collection, query).length;
  }

  #matching<T extends Document>(collection: Collection<T>, query: Query<T>): T[] {
    const plan = planQuery(collection as unknown as AnyCollection, query);
    const next = plan.rest[0]!;
    const found = [...this.#documents.values()].filter(
      (document) =>
        plan.equals.every(([field, value]) => document[field] === value) &&
        (plan.from === undefined || (document[next] !== null && compare(document[next], plan.from) >= 0)) &&
        (plan.to === undefined || (document[next] !== null && compare(document[next], plan.to) <= 0)) &&
        (!plan.isUniqueKey || plan.rest.every((field) => document[field] !== null)),
    );
    const order = [...plan.rest, 'id'];
    found.sort((a, b) => order.map((field) => compare(a[field], b[field])).find((sign) => sign !== 0) ?? 0);
    if (plan.isDescending) found.reverse();
    return found as unknown as T[];
  }

  write(write: Write): unknown {
    const collection = write.collection as unknown as AnyCollection;
    if (write.kind === 'insert') return this.#store(collection, { ...write.document, version: 1 } as Values, true);
    if (write.kind === 'accumulate') return this.#accumulate(collection, write);
    const present = this.#documents.get(write.id);
    if ('version' in write && write.version !== undefined && present?.version !== write.version) {
      throw new StaleVersion(collection.name, write.id);
    }
    switch (write.kind) {
      case 'update':
        return this.#store(collection, { ...present!, ...write.set, version: write.version + 1 });
      case 'increment': {
        if (present === undefined) return undefined;
        const added = Object.entries(write.by as { [field: string]: number }).map(([field, by]) => [
          field,
          Number(present[field] ?? 0) + by,
        ]);
        this.#store(collection, { ...present, ...Object.fromEntries(added) });
        return undefined;
      }
      case 'remove':
        return this.#documents.delete(write.id);
      case 'require':
        return undefined;
    }
  }

  #accumulate(collection: AnyCollection, { document, sum }: Extract<Write, { kind: 'accumulate' }>): undefined {
    const present = this.#documents.get(document.id);
    const added = document as Values;
    if (present === undefined) this.#store(collection, { ...added, version: 1 }, true);
    else if (sum !== null)
      this.#store(collection, { ...present, [sum]: Number(present[sum] ?? 0) + Number(added[sum]) });
    return undefined;
  }

  commit(writes: readonly Write[]): void {
    const before = new Map(this.#documents);
    try {
      for (const write of writes) this.write(write);
    } catch (error) {
      this.#documents = before;
      throw error;
    }
  }

  #store(collection: AnyCollection, document: Values, isNew = false): Values {
    const broken = Object.entries(collection.uniqueKeys).filter(
      ([, fields]) =>
        fields.every((field) => document[field] !== null) &&
        [...this.#documents.values()].some(
          (other) => other.id !== document.id && fields.every((field) => other[field] === document[field]),
        ),
    );
    const keys = broken.map(([key]) => key);
    if (isNew && this.#documents.has(document.id)) keys.unshift('id');
    if (keys.length > 0) throw new ModelViolation(collection.name, keys);
    this.#documents.set(document.id, document);
    return document;
  }
}

/** Compares index values: null first, then false before true, numbers by value, and texts by UTF-8 bytes. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return Number(a) - Number(b);
}
