export type Role = 'owner' | 'admin' | 'member';

/** The roles that the API assigns; `owner` is the creator. */
export const assignableRoles = ['admin', 'member'] as const;
export type AssignableRole = (typeof assignableRoles)[number];

/** What happens to the topics of a removed team: they are erased, or become private topics of the owner. */
export type TopicDisposal = 'erase' | 'convert';

/** The notices to a team: the loss of its tier, and three reminders of the removal. */
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
  /** When the owner of an active team was first found below the TEAM tier. */
  readonly lapsedAt: number | null;
  /** The last due notice and its time; `sent` after its emails were enqueued. */
  readonly notice: TeamNotice | null;
  readonly noticeAt: number | null;
  readonly noticeSentAt: number | null;
  /** Set when the removal begins. From then on, the team is not found and nothing can be added to it. */
  readonly removal: TopicDisposal | null;
}

export interface TeamMember {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  readonly userId: string;
  readonly role: Role;
  readonly joinedAt: number;
  /** When the member joined, while the team's subscriptions remain to be made; null otherwise. */
  readonly subscribesSince: number | null;
}

/** An invitation of an email address to a team. Times are milliseconds since the epoch. */
export interface TeamInvite {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  /** In lower case; one invite per team and address. */
  readonly email: string;
  readonly role: AssignableRole;
  readonly invitedById: string;
  /** SHA-256 of the emailed token, hex; unique. Null until the email is sent; the invite cannot be accepted before. */
  readonly tokenHash: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Whether the role may manage the team's members, invites and topics. */
export function managesTeam(role: Role | null): boolean {
  return role === 'owner' || role === 'admin';
}

/** Validity of an emailed link. */
export const inviteLifetimeMs = 7 * 86_400_000;

/** How long an expired invite is listed and can be resent. */
export const inviteKeptMs = 7 * 86_400_000;

/** Seats of every owner; the operator can add more. */
export const baseMembers = 10;

/** The maximum of added seats, so that a team fits into one read of the store (10,000). */
export const additionalMembersMax = 9_990;
