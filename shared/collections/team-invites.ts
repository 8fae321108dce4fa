import { inviteKeptMs, type TeamInvite } from '../domain/teams/team.ts';
import type { Collection, Documents, Query } from '../ports/documents.ts';
import { retryStale } from '../documents/retry-stale.ts';

export const teamInvites: Collection<TeamInvite> = {
  name: 'teamInvites',
  fields: {
    teamId: 'text',
    email: 'text',
    role: 'text',
    invitedById: 'text',
    tokenHash: 'text',
    createdAt: 'time',
    expiresAt: 'time',
  },
  uniqueKeys: { address: ['teamId', 'email'], token: ['tokenHash'] },
  indexes: {
    byTeam: ['teamId', 'expiresAt'],
    byExpiry: ['expiresAt'],
    byInviter: ['invitedById', 'createdAt'],
    byEmail: ['email', 'createdAt'],
  },
};

/** The maximum number of listed invites per team, including expired ones. */
export const invitesMax = 100;

/** Whether the invite is listed: an expired one stays listed for some days. */
export function isListedInvite(invite: TeamInvite, now: number): boolean {
  return invite.expiresAt > now - inviteKeptMs;
}

const listed = (teamId: string, now: number): Query<TeamInvite> => ({
  index: 'byTeam',
  equals: { teamId },
  from: now - inviteKeptMs + 1,
  limit: invitesMax,
});

/** Returns the listed invites of the team, newest first. */
export async function findInvites(documents: Documents, teamId: string, now: number): Promise<TeamInvite[]> {
  const found = await documents.find(teamInvites, listed(teamId, now));
  return found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

export function countInvites(documents: Documents, teamId: string, now: number): Promise<number> {
  return documents.count(teamInvites, listed(teamId, now));
}

/** Returns the team's invite for the address, listed or not, or null. */
export async function findInviteFor(documents: Documents, teamId: string, email: string): Promise<TeamInvite | null> {
  const [invite] = await documents.find(teamInvites, { index: 'address', equals: { teamId, email }, limit: 1 });
  return invite ?? null;
}

/** Returns the invite whose latest emailed token has this hash, expired or not, or null. */
export async function findInviteByToken(documents: Documents, tokenHash: string): Promise<TeamInvite | null> {
  const [invite] = await documents.find(teamInvites, { index: 'token', equals: { tokenHash }, limit: 1 });
  return invite ?? null;
}

/**
 * Sets the token of the next email and invalidates the previous one. Resolves with the invite, or null when it was
 * cancelled, accepted, or has expired.
 */
export async function setInviteToken(
  documents: Documents,
  id: string,
  token: { tokenHash: string; now: number },
): Promise<TeamInvite | null> {
  return retryStale(async () => {
    const invite = await documents.get(teamInvites, id);
    if (invite === null || invite.expiresAt <= token.now) return null;
    return documents.update(teamInvites, invite, { tokenHash: token.tokenHash });
  });
}
