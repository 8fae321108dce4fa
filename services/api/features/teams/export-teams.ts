import { findMemberships } from '@tocsin/shared/collections/teams.ts';
import { teamSchema } from '@tocsin/shared/wire/team.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';
import { smallSection } from '../../export/small-section.ts';
import { describeTeams } from './describe-teams.ts';

/** The account's teams in the form of their list. */
export function exportTeams({ engine: { documents } }: Pick<ApiDeps, 'engine'>): ExportSection {
  return smallSection({ name: 'teams', scopes: ['account:read'], schema: teamSchema }, async ({ caller }) =>
    describeTeams(documents, await findMemberships(documents, caller.userId)),
  );
}
