import type { Collection, Document } from '../ports/documents.ts';
import { addressChanges } from './address-changes.ts';
import { consents } from './consents.ts';
import { apiKeys, loginSessions, topicTokens } from './credentials.ts';
import { mailTokens } from './mail-tokens.ts';
import { teamMembers, teams } from './teams.ts';
import { topics } from './topics.ts';
import { users } from './users.ts';

const all = [
  users, topics, apiKeys, topicTokens, loginSessions, teams, teamMembers,
  consents, mailTokens, addressChanges,
];

/** Every kind of document there is; drivers make their tables and models from this list when they open. */
export const collections = all as unknown as readonly Collection<Document>[];
