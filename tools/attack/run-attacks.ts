import { forgedTokens } from './forged-tokens.ts';
import { parameterFloods } from './parameter-floods.ts';
import { pipelinedRequests } from './pipelined-requests.ts';
import { slowSockets } from './slow-sockets.ts';
import type { Attack, Target } from './target.ts';

/** The attacks that need nothing but a URL. */
export const sharedAttacks: readonly Attack[] = [parameterFloods, forgedTokens, pipelinedRequests, slowSockets];

/** Runs the attacks one after another and reports a line for each. Resolves with whether the server held. */
export async function runAttacks(
  target: Target,
  attacks: readonly Attack[],
  report: (line: string) => void,
): Promise<boolean> {
  let hasHeld = true;
  for (const { name, run } of attacks) {
    const began = performance.now();
    const { figures, faults } = await run(target);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    report(`${faults.length === 0 ? 'held  ' : 'FAILED'} ${name}, ${seconds} s: ${JSON.stringify(figures)}`);
    for (const fault of faults.slice(0, 20)) report(`       ${fault}`);
    if (faults.length > 20) report(`       and ${faults.length - 20} more`);
    hasHeld &&= faults.length === 0;
  }
  return hasHeld;
}
