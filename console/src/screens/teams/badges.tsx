import type { Team } from '../../api/wire.ts';

export function RoleBadge({ role }: { readonly role: Team['my_role'] }) {
  return <span class={`badge ${role === 'member' ? '' : 'manager'}`}>{role}</span>;
}

export const DeactivatedBadge = () => <span class="badge retrying">deactivated</span>;
