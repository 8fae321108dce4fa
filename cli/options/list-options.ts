import { Option, type Command } from 'commander';
import { wholeNumber } from './whole-number.ts';

const shownMax = 10_000;

export interface ListOptions {
  readonly limit: number;
  readonly search?: string;
}

/** Adds the options of a list. `of` names the searched fields. */
export function withListOptions(command: Command, of: string): Command {
  return command
    .option('--search <text>', `only entries whose ${of} contains this text, case-insensitive`)
    .addOption(
      new Option('--limit <number>', `maximum number, up to ${shownMax}`)
        .default(100)
        .argParser(wholeNumber(1, shownMax)),
    );
}

/** Returns the first matches from pages. `textsOf` returns the searched texts. */
export async function collect<T>(
  pages: AsyncIterable<readonly T[]>,
  { search, limit }: ListOptions,
  { matches, textsOf }: { matches: (one: T) => boolean; textsOf: (one: T) => readonly string[] },
): Promise<T[]> {
  const wanted = search?.toLowerCase();
  const found: T[] = [];
  for await (const page of pages) {
    found.push(
      ...page.filter(
        (one) =>
          matches(one) && (wanted === undefined || textsOf(one).some((text) => text.toLowerCase().includes(wanted))),
      ),
    );
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
