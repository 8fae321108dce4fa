/**
 * The consumer group that backfills the message store and publishes records to subscribers; resumes after the store's
 * watermark.
 */
export const fanoutGroup = 'fanout';

/** The consumer group that creates push jobs; resumes at its committed offset. */
export const notifierGroup = 'notifier';

/** All consumer groups of the installation. */
export const logGroups = [fanoutGroup, notifierGroup] as const;
