import { batchCheck, batchLoader } from '@tocsin/shared/async/batch-loader.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { findActive, findTeamRoles, rolesOfTeam } from '@tocsin/shared/operations/topics/find-readers.ts';
import { smallPageSize } from '@tocsin/shared/ports/deliveries.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** IDs per query. */
const idsMax = 1_000;
/** Teams per read, one after the other, because of their size. */
const teamsMax = 10;

/** Reads that concurrent pushes share. No result is older than its call. */
export interface PushReads {
  message(id: string): Promise<StoredMessage | undefined>;
  topic(id: string): Promise<Topic | undefined>;
  /** Returns those of the IDs whose account exists and is enabled. */
  active(userIds: ReadonlySet<string>): Promise<string[]>;
  /** Returns the roles in the topic's team, which can have 10,000 members; none if the topic needs none. */
  teamRoles(topic: Pick<Topic, 'teamId' | 'accessLevel'>): Promise<ReadonlyMap<string, Role>>;
}

/** Reads that arrive in one tick, or while another runs, share a query: most messages have few recipients. */
export function pushReads({ messages, documents }: Pick<Engine, 'messages' | 'documents'>): PushReads {
  const isActive = batchCheck((ids: string[]) => findActive(documents, ids), idsMax);
  const roles = batchLoader(async (teamIds: string[]) => {
    const found = new Map<string, ReadonlyMap<string, Role>>();
    for (const teamId of teamIds) found.set(teamId, await rolesOfTeam(documents, teamId));
    return found;
  }, teamsMax);
  return {
    message: batchLoader(async (ids) => byId(await messages.findMany(ids)), idsMax),
    topic: batchLoader(async (ids) => byId(await documents.getMany(topics, ids)), idsMax),
    async active(userIds) {
      if (userIds.size > smallPageSize) return findActive(documents, [...userIds]);
      const found = await Promise.all([...userIds].map(async (id) => ((await isActive(id)) ? [id] : [])));
      return found.flat();
    },
    teamRoles: (topic) => findTeamRoles(topic, async (teamId) => (await roles(teamId))!),
  };
}

const byId = <T extends { readonly id: string }>(found: readonly T[]): Map<string, T> =>
  new Map(found.map((one) => [one.id, one]));
