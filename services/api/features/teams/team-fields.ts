import { assignableRoles } from '@tocsin/shared/domain/teams/team.ts';
import { z } from 'zod';
import { textField } from '../../http/fields.ts';

/** Fields of a team in requests. */
export const teamFields = {
  name: z.string().regex(/^[a-z0-9-]{2,40}$/, 'must be 2 to 40 of the characters a-z, 0-9 and -'),
  displayName: textField({ min: 1, max: 80 }),
  description: textField({ min: 0, max: 1_000 }),
  role: z.enum(assignableRoles),
};
