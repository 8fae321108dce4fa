import { writeFile } from 'node:fs/promises';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { writeWholeFile } from '@tocsin/shared/platform/write-whole-file.ts';
import { heldMessages, type HeldMessages } from '@tocsin/shared/operations/retention/held-messages.ts';
import { Command } from 'commander';
import { operatorAudit, printObject, withStore, type PrintOptions } from '../../operator/operator-store.ts';
import { printLine } from '../../output/output.ts';
import { progressOf } from '../../output/report-progress.ts';

/** `tocsin topic held`: prints or writes the messages that only a legal hold keeps, one JSON object per line. */
export function heldMessagesCommand(): Command {
  return new Command('held')
    .description('print the messages that only a legal hold keeps: expired or deleted, with their text')
    .argument('<name>', 'name of the topic, case-insensitive')
    .option('--output <file>', 'write to this file, which only its owner can read; replaces it when complete')
    .action((name: string, options: PrintOptions & { output?: string }) =>
      withStore(async (store) => {
        const deps = { documents: store.documents, messages: await store.openMessages() };
        const { topic, pages } = await heldMessages(deps, name, { now: systemClock(), audit: operatorAudit() });
        if (options.output === undefined) {
          for await (const page of pages) for (const line of page) await printLine(line);
          return;
        }
        const messages = await writeLines(pages, options.output);
        printObject({ topic: topic.name, topic_id: topic.id, messages, file: options.output }, options);
      }),
    );
}

/** Resolves with the number of messages when the file is complete and on disk. */
async function writeLines(pages: HeldMessages['pages'], file: string): Promise<number> {
  let count = 0;
  const report = progressOf('messages written');
  const counted = async function* () {
    for await (const page of pages) {
      count += page.length;
      report(count);
      yield page.map((line) => `${line}\n`).join('');
    }
  };
  await writeWholeFile(file, (partial) => writeFile(partial, counted()), { mayReplace: true });
  return count;
}
