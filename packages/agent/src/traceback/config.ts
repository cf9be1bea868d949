import { join } from 'node:path'
import { block, integer, setting, text } from '@sonde/sdk/config'
import { userStateDir } from '@sonde/sdk/internal'
import * as v from 'valibot'

function place(description: string) {
  return v.optional(v.pipe(text(), v.description(description)))
}

/** Schema of `traceback`: rules on what is sampled, and the events that they open. */
export const tracebackSchema = block({
  rules: place('File of rules; it is read again when it changes. Default: there are no rules'),
  dir: place('Folder of the events. Default: `sonde/traceback` in `$XDG_STATE_HOME` or `~/.local/state`'),
  before_ms: setting(
    integer(0, 600_000, 'milliseconds'),
    500,
    'How much is kept of the time before an event; a source keeps samples for its `ring_ms`, of which some pass until they are asked for',
  ),
  after_ms: setting(integer(0, 600_000, 'milliseconds'), 500, 'How much is kept of the time after an event'),
  max_event_s: setting(integer(1, 3600, 'seconds'), 60, 'An event that lasts longer is kept in parts of that length'),
  max_event_bytes: setting(
    integer(1 << 20, 2 ** 32, 'bytes'),
    64 << 20,
    'An event that is larger is kept in parts of that size. Signals that its rule does not watch take half of a part at most',
  ),
  events_per_minute: setting(
    integer(1, 10_000, 'events'),
    60,
    'Events that may start of one device in a minute, all devices of an application counting as one; further ones are counted, and logged once a minute',
  ),
  dir_bytes: setting(
    integer(1 << 20, 2 ** 50, 'bytes'),
    4 * 2 ** 30,
    'Size of all events on disk; beyond, the oldest are removed',
  ),
  events_max: setting(integer(1, 100_000, 'events'), 10_000, 'Events on disk; beyond, the oldest are removed'),
})

/** What `traceback` configures. */
export type TracebackConfig = v.InferOutput<typeof tracebackSchema>

/** Folder of the events where the configuration names none: beside the store. */
export function defaultTracebackDir(environment: NodeJS.ProcessEnv = process.env): string {
  return join(userStateDir(environment), 'sonde', 'traceback')
}

/** What holds where nothing is configured. */
export const tracebackDefaults: TracebackConfig = v.parse(tracebackSchema, {})
