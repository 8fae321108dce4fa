export type Role = 'owner' | 'admin' | 'member';

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
}

export interface TeamMember {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  readonly userId: string;
  readonly role: Role;
  readonly joinedAt: number;
}
