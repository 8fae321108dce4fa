import { describeUnlessMissing } from '../test/describe-unless-missing.ts';
import { missingPrograms } from './missing-programs.ts';

/** A Jest `describe` for tests that start their own engines because they kill, pause or fill them. */
export const describeWithOwnEngines = (name: string, body: () => void): void =>
  describeUnlessMissing(name, missingPrograms(), body);
