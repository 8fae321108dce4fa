/** The fields of the publish box, as the form holds them. */
export const emptyDraft = {
  message: '',
  title: '',
  tags: '',
  priority: '3',
  markdown: false,
  click: '',
  actions: '',
  ttl: '',
  silent: false,
  /** How `delay` names the time of delivery; empty: deliver immediately. */
  when: '',
  delay: '',
};

/** Times without an offset are in this zone. */
export const ownTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export type Draft = typeof emptyDraft;
