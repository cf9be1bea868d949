import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import { type TextSinkOptions, textEntries } from '../text-options.ts'

/** Options of {@link createStdout}. */
export interface StdoutOptions extends TextSinkOptions, PushSinkOptions {}

/** Keys of this destination in a configuration. */
export const stdoutEntries = textEntries
