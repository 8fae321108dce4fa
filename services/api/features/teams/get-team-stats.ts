import { AppError } from '@tocsin/shared/domain/errors.ts';
import { baseMembers } from '@tocsin/shared/domain/teams/team.ts';
import { retentionDaysOf, tierInForce, tierLimits, wholeDays } from '@tocsin/shared/domain/accounts/tiers.ts';
import { findSeats } from '@tocsin/shared/operations/teams/team-seats.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';

/** The caller's seats as owner and the limits of the caller's tier. */
const statsSchema = z
  .object({
    base_members: z.int(),
    additional_members: z.int(),
    used_members: z.int(),
    total_members: z.int(),
    available_members: z.int(),
    percentage_used: z.number(),
    daily_message_limit: z.int(),
    message_retention_days: z.int(),
  })
  .meta({ id: 'TeamStats' });

/** `GET /api/teams/stats` */
export function getTeamStats(deps: Pick<ApiDeps, 'config' | 'engine'>): Route {
  return route({
    id: 'getTeamStats',
    method: 'GET',
    path: '/api/teams/stats',
    summary: "Get the caller's seats over all active teams and the limits of the tier",
    audience: 'account',
    scope: 'account:read',
    success: { status: 200, schema: statsSchema, description: 'The figures' },
    async handle(context) {
      const owner = await deps.engine.documents.get(users, context.account().userId);
      if (owner === null) throw new AppError('unauthenticated', 'Could not validate credentials');
      const { holders, total } = await findSeats(deps.engine.documents, owner);
      const tier = tierInForce(owner, context.now);
      const body: z.infer<typeof statsSchema> = {
        base_members: baseMembers,
        additional_members: owner.additionalMembers,
        used_members: holders.size,
        total_members: total,
        available_members: Math.max(0, total - holders.size),
        percentage_used: Math.round((holders.size / total) * 10_000) / 100,
        daily_message_limit: tierLimits[tier].publishesPerDay,
        message_retention_days: wholeDays(retentionDaysOf(deps.config)[tier]),
      };
      return { status: 200, body };
    },
  });
}
