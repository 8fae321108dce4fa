import { topicChange } from '@tocsin/shared/domain/change.ts';
import { toHoldJson } from '@tocsin/shared/domain/hold-json.ts';
import { setHold } from '@tocsin/shared/stores/set-hold.ts';
import { Command } from 'commander';
import { operatorAudit, printObject, tellNodes, withStore, type PrintOptions } from './operator-store.ts';

/** `tocsin topic …`: topics by the operator's hand, beside a running installation or without one. */
export function topicCommand(): Command {
  const topic = new Command('topic').description('legal holds on topics; works beside a running server');
  for (const command of [
    hold('hold', { isHeld: true, description: 'remove nothing of a topic, nor it, until release' }),
    hold('release', { isHeld: false, description: 'undo hold: what has outlived its time goes with the next sweep' }),
  ]) topic.addCommand(command.option('--json', 'print the topic as JSON'));
  return topic;
}

function hold(name: string, { isHeld, description }: { isHeld: boolean; description: string }): Command {
  return new Command(name)
    .description(description)
    .argument('<name>', "the topic's name, in any case")
    .action((topicName: string, options: PrintOptions) => withStore(async (store) => {
      const topic = await setHold(store.documents, topicName, isHeld, operatorAudit());
      await tellNodes(store, topicChange(topic));
      printObject(toHoldJson(topic), options);
    }));
}
