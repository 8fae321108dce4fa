import type { Recorded } from './audit-entries.ts';
import { byCommand } from './audit-sources.ts';
import { runCommand } from './run-command.ts';
import { testStack } from './stack.ts';

/** The audited actions on the archive, with their entries. */
export function archiveActs(topicOf: () => Promise<{ topic: { id: string; name: string } }>) {
  return {
    'topic.archive_restored': async (): Promise<Recorded> => {
      const { topic } = await topicOf();
      const period = ['--from', '2030-01-01T00:00:00Z', '--to', '2030-01-02T00:00:00Z'];
      const env = { ...testStack().env, ARCHIVE_URL: 'file:///nonexistent/archive' };
      await runCommand(['archive', 'restore', '--topic', topic.name, '--days', '3', ...period], '', env);
      return {
        ...byCommand,
        subject: { type: 'topic', ...topic },
        details: { from: '2030-01-01T00:00:00.000Z', to: '2030-01-02T00:00:00.000Z', days: 3 },
      };
    },
  };
}
