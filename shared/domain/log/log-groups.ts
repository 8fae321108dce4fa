/** The consumer group that completes the message store and brings records to the bus; goes on behind the store's watermark. */
export const fanoutGroup = 'fanout';

/** The consumer group that makes push jobs; goes on where it has committed. */
export const notifierGroup = 'notifier';

/** All of the installation's own. */
export const logGroups = [fanoutGroup, notifierGroup] as const;
