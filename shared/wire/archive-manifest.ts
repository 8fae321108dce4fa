import { z } from 'zod';

const offset = z.int().min(0);
const time = z.iso.datetime();

/** The manifest of an archived object. Unknown fields of later versions are ignored. */
export const archiveManifest = z.object({
  version: z.literal(1),
  topic_id: z.string(),
  /** The topic's name when it was archived. */
  topic: z.string(),
  run_id: z.string(),
  /** The key of the object. */
  object: z.string(),
  messages: z.int().min(1),
  /** Of the compressed object, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  first_offset: offset,
  last_offset: offset,
  /** The earliest and the latest publish time. */
  first_time: time,
  last_time: time,
  archived_at: time,
});
export type ArchiveManifest = z.infer<typeof archiveManifest>;
