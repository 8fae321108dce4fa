export type Role = 'owner' | 'admin' | 'member';

/** The roles that the interface gives; `owner` comes with making the team. */
export const givenRoles = ['admin', 'member'] as const;
export type GivenRole = (typeof givenRoles)[number];

/** What becomes of the topics of a team that is removed: they go too, or become the owner's private topics. */
export type TopicFate = 'erase' | 'convert';

/** What a team's people are told: that it has lost its tier, and three times that it will be removed. */
export type TeamNotice = 'lapse' | 'removal-30-days' | 'removal-7-days' | 'removal-1-day';

/** A team of users. Times are milliseconds since the epoch. */
export interface Team {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly ownerId: string;
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deactivatedAt: number | null;
  /** Since when the owner of an active team is known to be below the TEAM tier. */
  readonly lapsedAt: number | null;
  /** The last notice that became due, and when; sent when its mails were handed to the queue. */
  readonly notice: TeamNotice | null;
  readonly noticeAt: number | null;
  readonly noticeSentAt: number | null;
  /** Set when the team's removal has begun: from then on it cannot be found, and nothing is made for it. */
  readonly removal: TopicFate | null;
}

export interface TeamMember {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  readonly userId: string;
  readonly role: Role;
  readonly joinedAt: number;
}

/** That an address may join a team. Times are milliseconds since the epoch. */
export interface TeamInvite {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  /** Lower-cased; one invite per team and address. */
  readonly email: string;
  readonly role: GivenRole;
  readonly invitedById: string;
  /** SHA-256 of the mailed token, hex; unique. Null until its mail is sent: nobody can accept it before. */
  readonly tokenHash: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Whether the role gives the right to manage the team: its members, invites and topics. */
export function managesTeam(role: Role | null): boolean {
  return role === 'owner' || role === 'admin';
}

/** How long a mailed link is good. */
export const inviteLifetimeMs = 7 * 86_400_000;

/** How long an invite that has expired is still listed, and can be resent. */
export const inviteKeptMs = 7 * 86_400_000;

/** Seats of every owner; more are the operator's to give. */
export const baseMembers = 10;

/** Seats that an operator can add. Harm prevented: teams that no longer fit into one read of the store (10,000). */
export const additionalMembersMax = 9_990;
