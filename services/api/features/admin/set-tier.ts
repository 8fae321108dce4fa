import { additionalMembersMax } from '@tocsin/shared/domain/teams/team.ts';
import { tiers } from '@tocsin/shared/domain/accounts/tiers.ts';
import { setTier as storeTier } from '@tocsin/shared/operations/accounts/set-tier.ts';
import { operatorUserSchema, toOperatorUserJson } from '@tocsin/shared/wire/user.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfOperator } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';

const seatsForm = `must be a whole number from 0 to ${additionalMembersMax}`;

const body = z.object({
  tier: z.enum(tiers),
  expires_at: optionalField(timeField()),
  additional_members: optionalField(z.int(seatsForm).min(0, seatsForm).max(additionalMembersMax, seatsForm)),
});

/** Sets an account's tier, its expiry and its seats; omitted fields keep their values. 404 `User not found`. */
export function setTier(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'setTier',
    method: 'PUT',
    path: '/admin/users/{email}/tier',
    summary: "Set an account's tier",
    audience: 'operator',
    body,
    success: { status: 200, schema: operatorUserSchema, description: 'The changed account' },
    handle: async (context, { body: input }) => {
      const user = await storeTier(
        deps.engine.documents,
        context.params['email']!,
        {
          tier: input.tier,
          expiresAt: input.expires_at,
          additionalMembers: input.additional_members,
          now: context.now,
        },
        auditOfOperator(deps, context),
      );
      await deps.directory.changed({ kind: 'user', userId: user.id });
      return { status: 200, body: toOperatorUserJson(user, context.now) };
    },
  });
}
