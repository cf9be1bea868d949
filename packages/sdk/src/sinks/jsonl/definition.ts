import { clashOfLimits } from '../../delivery/config.ts'
import type { SinkDefinition } from '../registry.ts'
import { jsonlEntries } from './config.ts'
import { createJsonl } from './jsonl.ts'
import { lookAtAddress } from './look.ts'

/** The row of JSON lines. */
export const jsonlSink: SinkDefinition<typeof jsonlEntries> = {
  name: 'jsonl',
  summary: 'Records as JSON lines, posted over HTTP',
  isDurable: false,
  entries: jsonlEntries,
  refuse: clashOfLimits,
  create: (options, { name, onLoss }) => createJsonl({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: ({ url }) => lookAtAddress(url),
}
