/** The error that routes declare whose action `requireOriginal` refuses. */
export const whenRestored = { 409: 'The message was restored from the archive.' } as const;
