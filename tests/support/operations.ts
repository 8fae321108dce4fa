import { Client } from './stack.ts';

/** An operation as `/openapi.json` has it. */
export interface Operation {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** `METHOD path`. */
  readonly name: string;
  /** Which credentials open it, each by itself, with what it has to grant. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

type Documented = Pick<Operation, 'security'>;

/** All operations that the shared stack tells of. */
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

/** Whether the operation is a stream: asked by HEAD it opens none. */
export function isStream({ security }: Pick<Operation, 'security'>): boolean {
  return security.some((one) => 'tokenInQuery' in one);
}
