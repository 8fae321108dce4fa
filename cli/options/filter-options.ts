import type { TopicFilter } from '@tocsin/client';
import { type Command, Option } from 'commander';
import { wholeNumber } from './whole-number.ts';

export interface FilterOptions {
  readonly priorityMin?: number;
  readonly priorityMax?: number;
  readonly tags?: string;
  readonly search?: string;
}

/** Adds the options that select messages. */
export function withFilterOptions(command: Command): Command {
  const priority = (flag: string, text: string) =>
    new Option(`${flag} <priority>`, `${text} priority, 1 to 5`).argParser(wholeNumber(1, 5));
  return command
    .addOption(priority('--priority-min', 'lowest'))
    .addOption(priority('--priority-max', 'highest'))
    .option('--tags <tags>', 'only messages with one of these tags, separated by commas')
    .option('--search <text>', 'only messages whose title or text contains this text, case-insensitive');
}

export function filterOf({ priorityMin, priorityMax, tags, search }: FilterOptions): TopicFilter {
  return {
    ...(priorityMin !== undefined && { priorityMin }),
    ...(priorityMax !== undefined && { priorityMax }),
    ...(tags !== undefined && { tags: tags.split(',') }),
    ...(search !== undefined && { q: search }),
  };
}
