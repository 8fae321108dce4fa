import { z } from 'zod';

const time = z.int().min(0);

/** The fields of a stored message in exports and archives, apart from its place in the log. */
export const storedMessageFields = {
  id: z.string(),
  topicId: z.string(),
  message: z.string(),
  title: z.string().nullable(),
  priority: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)]),
  tags: z.array(z.string()),
  timestamp: time,
  expiresAt: time,
  markdown: z.boolean(),
  editedAt: time.nullable(),
  deletedAt: time.nullable(),
  // Absent in exports of earlier versions.
  extras: z.string().nullable().default(null),
  publishedBy: z.string().nullable().default(null),
} as const;
