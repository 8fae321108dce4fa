import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { heldMessages, type HeldMessages } from '@tocsin/shared/operations/retention/held-messages.ts';
import { toMessageJson } from '@tocsin/shared/wire/message.ts';
import { Command } from 'commander';
import { operatorAudit, printObject, withStore, type PrintOptions } from '../operator/operator-store.ts';
import { printLine } from '../output/output.ts';
import { reportProgress } from '../output/report-progress.ts';

/** Messages between two lines of progress. */
const reportEvery = 100_000;

/** `tocsin topic held`: prints or writes the messages that only a legal hold keeps, one JSON object per line. */
export function heldMessagesCommand(): Command {
  return new Command('held')
    .description('print the messages that only a legal hold keeps: expired or deleted, with their text')
    .argument('<name>', 'name of the topic, case-insensitive')
    .option('--output <file>', 'write to this file, which only its owner can read; replaces it when complete')
    .action((name: string, options: PrintOptions & { output?: string }) =>
      withStore(async (store) => {
        const held = await heldMessages({ documents: store.documents, messages: await store.openMessages() }, name, {
          now: systemClock(),
          audit: operatorAudit(),
        });
        if (options.output === undefined) {
          for await (const line of linesOf(held)) await printLine(line);
          return;
        }
        const messages = await writeLines(held, options.output);
        printObject({ topic: held.topic.name, topic_id: held.topic.id, messages, file: options.output }, options);
      }),
    );
}

async function* linesOf({ topic, pages }: HeldMessages): AsyncGenerator<string, void> {
  for await (const page of pages) for (const message of page) yield JSON.stringify(toMessageJson(message, topic.name));
}

/** Resolves with the number of messages when the file is complete and on disk. */
async function writeLines(held: HeldMessages, file: string): Promise<number> {
  const unfinished = `${file}.new`;
  let count = 0;
  const counted = async function* () {
    for await (const line of linesOf(held)) {
      count += 1;
      if (count % reportEvery === 0) reportProgress(`${count} messages written`);
      yield `${line}\n`;
    }
  };
  try {
    await pipeline(Readable.from(counted()), createWriteStream(unfinished, { mode: 0o600, flush: true }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return count;
}
