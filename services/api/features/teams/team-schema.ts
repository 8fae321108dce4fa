import { z } from 'zod';

const roleSchema = z.enum(['owner', 'admin', 'member']);

/** The team object of the interface. */
export const teamSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    display_name: z.string(),
    description: z.string(),
    owner_id: z.uuid(),
    member_count: z.int(),
    my_role: roleSchema,
    is_active: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Team' });

/** A member of a team. `is_active` is the account's. */
export const memberSchema = z
  .object({
    id: z.uuid(),
    team_id: z.uuid(),
    user_id: z.uuid(),
    username: z.string(),
    email: z.string(),
    role: roleSchema,
    joined_at: z.iso.datetime(),
    is_active: z.boolean(),
  })
  .meta({ id: 'TeamMember' });

export type TeamJson = z.infer<typeof teamSchema>;
