import { WebSocket } from 'ws';
import { testStack } from './stack.ts';

/** Opens a WebSocket stream of the path; resolves once it is open. `code` is what it closes with. */
export async function openStream(path: string): Promise<{ code: Promise<number> }> {
  const socket = new WebSocket(testStack().urls.at(-1)!.replace('http', 'ws') + path);
  const code = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => socket.once('error', reject).once('message', () => resolve()));
  return { code };
}
