import { Client } from './stack.ts';

/** An operation of `/openapi.json`. */
export interface Operation {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** `METHOD path`. */
  readonly name: string;
  /** The credentials of which each suffices, with what each must grant. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

type Documented = Pick<Operation, 'security'>;

/** All operations that the shared stack documents. */
export async function readOperations(): Promise<readonly Operation[]> {
  const { paths } = (await new Client().call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Documented>>;
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, { security }]) => {
      const method = verb.toUpperCase();
      return { method, path, name: `${method} ${path}`, security };
    }),
  );
}

/** Whether the operation is a stream; HEAD does not open one. */
export function isStream({ security }: Pick<Operation, 'security'>): boolean {
  return security.some((one) => 'tokenInQuery' in one);
}
