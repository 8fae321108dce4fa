import { formatDate, layOutMail, plainName, type Mail, type Recipient } from './mail.ts';

/** Tells the creator of a sink that it stopped. `since` is the first failure; null if it was activated again. */
export function sinkPausedMail(
  to: Recipient,
  sink: { readonly name: string; readonly topic: string; readonly since: number | null },
): Mail {
  const since = sink.since === null ? 'for 24 hours' : `since ${formatDate(sink.since)}`;
  return layOutMail({
    to,
    subject: `A sink of the topic ${sink.topic} is paused`,
    paragraphs: [
      `the sink “${plainName(sink.name)}” of the topic ${sink.topic} could not deliver ${since}. It is paused.`,
      'Repair the receiver and activate the sink: it continues where it stopped, with the records that have not expired.',
    ],
    closing: 'You receive this email because you created the sink.',
  });
}
