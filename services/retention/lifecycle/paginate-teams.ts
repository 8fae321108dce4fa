import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';

/** Returns all active or all inactive teams in pages, oldest first. */
export function paginateTeams(documents: Documents, isActive: boolean): AsyncGenerator<Team[], void> {
  return paginateIndex(documents, teams, {
    index: 'byActive',
    equals: { isActive },
    valueOf: ({ createdAt }) => createdAt,
    next: (time) => time + 1,
  });
}
