import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { ScheduledMessage } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { managesTeam } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { findRoles } from '@tocsin/shared/collections/teams.ts';
import { mergePage, readIndex } from '@tocsin/shared/documents/merge-indexes.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { roleOf } from '../../../http/load-topic.ts';
import type { Page } from '../../../http/paging.ts';

interface Listing {
  readonly index: string;
  readonly equals: Partial<ScheduledMessage>;
}

interface Listings {
  readonly read: readonly Listing[];
  /** The documents that two of them have. */
  readonly shared: readonly Listing[];
}

/**
 * Returns a page of the scheduled messages that the account published or whose topic it manages, of all topics or of a
 * given one: the latest time first, so that waiting ones precede those that ended.
 */
export async function findScheduled(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  caller: AccountCaller,
  { topic, page }: { topic: Topic | null; page: Pick<Page, 'limit' | 'offset'> },
): Promise<{ found: ScheduledMessage[]; total: number }> {
  const { documents } = deps.engine;
  const listings =
    topic === null ? await listingsOf(documents, caller) : await listingsIn(deps.directory, caller, topic);
  const count = async (of: readonly Listing[]) =>
    (await Promise.all(of.map((listing) => documents.count(scheduledMessages, listing)))).reduce((a, b) => a + b, 0);
  const readers = listings.read.map((listing) =>
    readIndex(documents, scheduledMessages, { ...listing, descending: true, limit: page.limit }),
  );
  return {
    found: await mergePage(readers, isBefore, page),
    total: (await count(listings.read)) - (await count(listings.shared)),
  };
}

const isBefore = (a: ScheduledMessage, b: ScheduledMessage): boolean =>
  a.scheduledFor > b.scheduledFor || (a.scheduledFor === b.scheduledFor && a.id > b.id);

async function listingsIn(directory: ApiDeps['directory'], caller: AccountCaller, topic: Topic): Promise<Listings> {
  const isManager = mayUseTopic(caller, topic, 'manage', await roleOf(directory, caller, topic));
  const listing: Listing = isManager
    ? { index: 'byTopic', equals: { topicId: topic.id } }
    : { index: 'byGuestTopic', equals: { guestId: caller.userId, topicId: topic.id } };
  return { read: [listing], shared: [] };
}

/** Roles in teams count for logins only. */
async function listingsOf(documents: Documents, { userId, scopes }: AccountCaller): Promise<Listings> {
  const roles = scopes === null ? await findRoles(documents, userId) : [];
  const administered = [...roles].flatMap(([teamId, role]) => (role !== 'owner' && managesTeam(role) ? [teamId] : []));
  return {
    read: [
      { index: 'byTopicOwner', equals: { topicOwnerId: userId } },
      { index: 'byGuest', equals: { guestId: userId } },
      ...administered.map((teamId): Listing => ({ index: 'byTeam', equals: { teamId } })),
    ],
    shared: administered.map((teamId): Listing => ({ index: 'byGuestTeam', equals: { guestId: userId, teamId } })),
  };
}
