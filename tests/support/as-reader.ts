/** The message object as callers see it who do not manage the topic. */
export const asReader = <M extends object>(message: M): M => ({ ...message, published_by: null });
