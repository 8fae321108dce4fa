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
};

export type Draft = typeof emptyDraft;
