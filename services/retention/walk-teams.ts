import type { Team } from '@tocsin/shared/domain/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { teams } from '@tocsin/shared/stores/teams.ts';

const pageSize = 500;
/** What a find takes. */
const limitMax = 10_000;

/** All teams that are active, or all that are not, in pages, the oldest first. What changes meanwhile may be left out. */
export async function* walkTeams(documents: Documents, isActive: boolean): AsyncGenerator<Team[]> {
  let from: number | undefined;
  // Of the time that the last page ended with: they are found again.
  let seen: ReadonlySet<string> = new Set();
  for (;;) {
    const limit = Math.min(pageSize + seen.size, limitMax);
    const found = await documents.find(teams, { index: 'byActive', equals: { isActive }, ...(from === undefined ? {} : { from }), limit });
    const page = found.filter(({ id }) => !seen.has(id));
    if (page.length === 0) return;
    yield page;
    if (found.length < limit) return;
    from = found.at(-1)!.createdAt;
    seen = new Set(found.filter(({ createdAt }) => createdAt === from).map(({ id }) => id));
  }
}
