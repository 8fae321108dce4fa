import type { Message } from '../api/wire.ts';

type Actor = NonNullable<Message['acknowledged_by']>;

const kindNames: Readonly<Partial<Record<Actor['kind'], string>>> = { api_key: 'key ', topic_token: 'token ' };

/** Who did something: an account, or the program with a key or token. */
export function ActorName({ actor }: { readonly actor: Actor | null }) {
  if (actor?.kind === 'system') return <>the resolved alert</>;
  if (actor === null || actor.name === null) return <>a deleted account</>;
  return (
    <>
      {kindNames[actor.kind]}
      <bdi>{actor.name}</bdi>
    </>
  );
}
