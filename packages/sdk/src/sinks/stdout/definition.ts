import type { SinkDefinition } from '../registry.ts'
import { clashOfText } from '../text-options.ts'
import { stdoutEntries } from './config.ts'
import { createStdout } from './stdout.ts'

/** The row of standard output. */
export const stdoutSink: SinkDefinition<typeof stdoutEntries> = {
  name: 'stdout',
  summary: 'Records as lines of text, on standard output',
  order: 'total',
  entries: stdoutEntries,
  refuse: clashOfText,
  create: (options, { name, onLoss }) =>
    createStdout({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: () => ({ state: 'present', found: 'lines go to standard output' }),
}
