import { ask, type Server } from './server.ts';

/** Resolves with the path of the topic with this name in the API, which uses IDs. */
export async function topicPath(server: Server, name: string): Promise<string> {
  const answer = await ask(server, `/api/topics/${encodeURIComponent(name)}`);
  const { id } = (await answer.json()) as { id: string };
  return `/api/topics/${id}`;
}
