import { CallFailed } from '../../api/call.ts';
import { toastError } from '../../parts/toasts.tsx';

/** Error texts of actions that were allowed when the page was loaded. */
const outdatedTexts: readonly string[] = ['Insufficient permissions', 'Team is deactivated'];

/** Whether the server refused an action because the team changed after the page was loaded. */
const isOutdated = (error: unknown): error is CallFailed =>
  error instanceof CallFailed && (error.status === 404 || outdatedTexts.includes(error.message));

/**
 * Runs an action on a team, then `done`, by default the reload of the page. If the team changed meanwhile, a toast
 * explains the refusal, and the page shows the current state. Resolves with whether the action was successful. Throws
 * other errors.
 */
export async function actOnTeam(
  act: () => Promise<unknown>,
  reload: () => Promise<void>,
  done: () => Promise<void> = reload,
): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    if (!isOutdated(error)) throw error;
    toastError(new Error(`The team changed meanwhile: ${error.message}. The page shows its current state.`));
    await reload();
    return false;
  }
  await done();
  return true;
}
