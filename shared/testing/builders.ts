import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import type { LoginSession } from '../domain/accounts/credentials.ts';
import type { Device, Platform } from '../domain/push/device.ts';
import { noLease, nothingLost, type LogConsumer } from '../domain/log/log-consumer.ts';
import type { EscalationPolicy } from '../domain/escalation/escalation-policy.ts';
import type { Message } from '../domain/messages/message.ts';
import { defaultMobileSettings, type Subscription } from '../domain/push/subscription.ts';
import { noNotice } from '../domain/teams/team-lifecycle.ts';
import type { Team, TeamMember } from '../domain/teams/team.ts';
import { topicNameKey, type Topic } from '../domain/topics/topic.ts';
import type { User } from '../domain/accounts/user.ts';
import { idSource } from '../platform/ids.ts';
import type { ScheduledMessage } from '../domain/messages/scheduled-message.ts';
import type { Claim } from '../ports/deliveries.ts';
import type { New } from '../ports/documents.ts';
import { auditBy, bySystem, type Audit } from '../collections/audit-log.ts';
import { noExtras } from '../domain/messages/message-extras.ts';

/** Unique IDs. */
export const newId = idSource(() => Date.now());

/** Records actions of Tocsin. */
export const testAudit: Audit = auditBy({ makeId: newId, clock: () => Date.now() }, bySystem);

const dayMs = 86_400_000;

/** A verified account with a unique name. */
export function newUser(given: Partial<New<User>> = {}): New<User> {
  const id = newId();
  const username = `u-${id.slice(-12)}`;
  return {
    id,
    email: `${username}@example.org`,
    username,
    usernameKey: username,
    passwordHash: null,
    avatarUrl: null,
    tier: 'FREE',
    tierExpiresAt: null,
    additionalMembers: 0,
    isVerified: true,
    wasVerified: true,
    isActive: true,
    createdAt: Date.now(),
    lastLogin: null,
    termsAcceptedAt: null,
    oauthProvider: null,
    ...given,
  };
}

/** A public topic of the owner. */
export function newTopic(ownerId: string, given: Partial<New<Topic>> = {}): New<Topic> {
  const id = newId();
  const name = given.name ?? `t-${id.slice(-12)}`;
  return {
    id,
    name,
    nameKey: topicNameKey(name),
    ownerId,
    teamId: null,
    accessLevel: 'public',
    description: '',
    isDiscoverable: false,
    isListed: false,
    iconName: null,
    iconColor: null,
    createdAt: Date.now(),
    partition: 0,
    formerEnd: null,
    retentionDays: null,
    archive: null,
    isHeld: false,
    escalation: null,
    subscriberCount: 0,
    lastActivityAt: Date.now(),
    ...given,
  };
}

/** A policy that repeats every two minutes. */
export function newPolicy(given: Partial<EscalationPolicy> = {}): EscalationPolicy {
  return {
    minPriority: 5,
    repeatEveryMs: 120_000,
    repeatMax: 5,
    steps: [],
    autoAckOnResolve: true,
    setBy: null,
    ...given,
  };
}

/** A message of the topic's owner that waits for its time, in a minute. */
export function newScheduledMessage(topic: Pick<Topic, 'id' | 'name' | 'ownerId'>): New<ScheduledMessage> {
  const scheduledFor = Date.now() + 60_000;
  const message = newMessage(topic.id, { timestamp: scheduledFor });
  return {
    id: message.id,
    topicId: topic.id,
    topicName: topic.name,
    topicOwnerId: topic.ownerId,
    teamId: null,
    publisher: { kind: 'account', userId: topic.ownerId, keyId: null },
    guestId: null,
    holderId: topic.ownerId,
    message,
    scheduledFor,
    ttlMs: null,
    dueAt: scheduledFor,
    attemptExpiresAt: null,
    state: 'scheduled',
    reason: null,
    endedAt: null,
  };
}

export function newTeam(ownerId: string, given: Partial<New<Team>> = {}): New<Team> {
  const id = newId();
  return {
    id,
    name: `team-${id.slice(-12)}`,
    displayName: 'Team',
    description: '',
    ownerId,
    isActive: true,
    createdAt: Date.now(),
    updatedAt: Date.now(),
    deactivatedAt: null,
    ...noNotice,
    removal: null,
    ...given,
  };
}

export function newMember(teamId: string, userId: string, role: TeamMember['role'] = 'member'): New<TeamMember> {
  return { id: newId(), teamId, userId, role, joinedAt: Date.now(), subscribesSince: null };
}

/** A subscription with the default settings. */
export function newSubscription(
  userId: string,
  topicId: string,
  given: Partial<New<Subscription>> = {},
): New<Subscription> {
  return {
    id: newId(),
    userId,
    topicId,
    createdAt: Date.now(),
    lastViewedAt: null,
    lastNotifiedAt: null,
    isPinned: false,
    ...defaultMobileSettings,
    teamSubscriptionId: null,
    isTeamMade: null,
    ...given,
  };
}

/** An active device on the Expo relay with a unique token. */
export function newDevice(userId: string, given: Partial<New<Device>> = {}): New<Device> {
  const id = newId();
  return {
    id,
    userId,
    pushToken: `ExponentPushToken[${id}]`,
    platform: 'expo',
    deviceId: `d-${id}`,
    deviceName: null,
    appVersion: null,
    isActive: true,
    createdAt: Date.now(),
    lastSeen: Date.now(),
    tokenGivenAt: null,
    doubtedAt: null,
    lastTest: null,
    ...given,
  };
}

/** A push token in the format of the platform's provider. */
export const newPushToken: Readonly<Record<Platform, () => string>> = {
  expo: () => `ExponentPushToken[${randomUUID()}]`,
  ios: () => randomBytes(32).toString('hex'),
  web: () => {
    const keys = {
      p256dh: createECDH('prime256v1').generateKeys('base64url'),
      auth: randomBytes(16).toString('base64url'),
    };
    return JSON.stringify({ endpoint: `https://fcm.googleapis.com/fcm/send/${randomUUID()}`, keys });
  },
  android: () => `${randomBytes(11).toString('base64url')}:APA91b${randomBytes(64).toString('base64url')}`,
};

/** A message published now with a lifetime of a week. */
export function newMessage(topicId: string, given: Partial<Message> = {}): Message {
  return {
    id: newId(),
    topicId,
    message: 'the pump stopped',
    title: null,
    priority: 3,
    tags: [],
    timestamp: Date.now(),
    expiresAt: Date.now() + 7 * dayMs,
    markdown: false,
    isDeleted: false,
    isEdited: false,
    deletedAt: null,
    editedAt: null,
    ...noExtras,
    publishedBy: null,
    ...given,
  };
}

/** A login of the account that has ended. */
export function newLogin(userId: string, fields: Partial<LoginSession> = {}): New<LoginSession> {
  return {
    id: newId(),
    userId,
    refreshHash: newId(),
    refreshedAt: null,
    refresherHash: null,
    address: null,
    userAgent: null,
    createdAt: 1,
    expiresAt: 1,
    ...fields,
  };
}

/** A claim of a push, by default to a new user's iPhone. */
export function newClaim(messageId: string, given: Partial<Claim> = {}): Claim {
  return {
    messageId,
    deviceId: newId(),
    topicId: newId(),
    userId: newId(),
    subscriptionId: newId(),
    platform: 'ios',
    ...given,
  };
}

/** A consumer of the log whose offset was just set. */
export function newConsumer(
  of: Pick<LogConsumer, 'topicId' | 'name' | 'offset'>,
  given: Partial<New<LogConsumer>> = {},
): New<LogConsumer> {
  return {
    id: newId(),
    ownerId: newId(),
    nameKey: of.name.toLowerCase(),
    updatedAt: Date.now(),
    placedAt: null,
    ...nothingLost,
    ...noLease,
    ...of,
    ...given,
  };
}
