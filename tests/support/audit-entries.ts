import type { Person } from './use-stack.ts';

export const account = ({ id, user: { username: name } }: Person) => ({ type: 'account', id, name });
export const inTeam = ({ id }: { id: string }) => ({ type: 'team', id });
export const inTopic = ({ id }: { id: string }) => ({ type: 'topic', id });

/** The log entry of an action without ID, time and action name. */
export interface Recorded {
  readonly actor: object;
  readonly origin: object;
  readonly subject: { type: string; id: string; name: string | null };
  readonly within?: { type: string; id: string };
  readonly details?: object;
}
