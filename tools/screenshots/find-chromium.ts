import { findProgram } from '../engines/find-program.ts';

/** The first is Chromium without windows, which uses a third of the CPU time. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Returns the path of Chromium or Chrome on this machine, or `undefined`. */
export const findChromium = (): string | undefined =>
  programs.map((name) => findProgram(name)).find((path) => path !== undefined);
