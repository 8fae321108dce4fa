import { z } from 'zod';

const example = {
  id: '01a1fdd3-3358-7000-9bff-f8f39a0bcf16',
  topic_id: '01a1fdd3-333c-7000-910f-bfdecfddb00d',
  topic: 'backups',
  message: 'Nightly backup finished',
  title: 'Backups',
  priority: 3,
  tags: ['db', 'ok'],
  timestamp: '2026-11-21T11:17:19.320Z',
  expires_at: '2026-11-28T11:17:19.320Z',
  offset: 0,
  markdown: false,
  is_deleted: false,
  is_edited: false,
  deleted_at: null,
  edited_at: null,
};

/** The message object, the same in every answer. All keys are always present. */
export const messageSchema = z
  .object({
    id: z.uuid().describe('A UUIDv7: ids sort by time.'),
    topic_id: z.uuid(),
    topic: z.string(),
    message: z.string().describe('As it was sent, byte for byte; empty once deleted.'),
    title: z.string().nullable(),
    priority: z.int().min(1).max(5),
    tags: z.array(z.string()),
    timestamp: z.iso.datetime(),
    expires_at: z.iso.datetime().describe('From then on it shows nowhere.'),
    offset: z.int().describe('Its position in the log: it only grows within a topic, and has holes.'),
    markdown: z.boolean().describe('Whether its publisher meant it as Markdown.'),
    is_deleted: z.boolean(),
    is_edited: z.boolean(),
    deleted_at: z.iso.datetime().nullable(),
    edited_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Message', examples: [example] });
