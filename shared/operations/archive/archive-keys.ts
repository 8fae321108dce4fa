/** Every object and manifest is below it. */
export const archiveRoot = 'topics/';

const objectSuffix = '.ndjson.gz';
const manifestSuffix = '.json';

/** Offsets in keys have equal lengths, so that the order of keys is that of offsets. */
const offsetDigits = 16;

/** The prefix of the topic's keys. */
export const topicArchive = (topicId: string): string => `${archiveRoot}${topicId}/`;

export const archiveObjectKey = (of: { topicId: string; firstOffset: number; runId: string }): string =>
  `${topicArchive(of.topicId)}${String(of.firstOffset).padStart(offsetDigits, '0')}-${of.runId}${objectSuffix}`;

export const archiveManifestKey = (objectKey: string): string =>
  objectKey.slice(0, -objectSuffix.length) + manifestSuffix;

export const isArchiveManifest = (key: string): boolean => key.endsWith(manifestSuffix);
