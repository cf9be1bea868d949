import { join } from 'node:path'
import { block, boundedText, integer, setting } from '@sonde/sdk/config'
import { userStateDir } from '@sonde/sdk/internal'
import * as v from 'valibot'

function place(description: string) {
  return v.optional(v.pipe(boundedText(), v.description(description)))
}

/** Schema of `traceback`: rules on sampled data, and the events that they open. */
export const tracebackSchema = block({
  rules: place('File of rules; it is read again when it changes. Default: there are no rules'),
  dir: place('Folder of the events. Default: `sonde/traceback` in `$XDG_STATE_HOME` or `~/.local/state`'),
  before_ms: setting(
    integer(0, 600_000, 'milliseconds'),
    500,
    'Time that is kept before an event. Samples older than the `ring_ms` of their source are lost; some are lost before they are fetched',
  ),
  after_ms: setting(integer(0, 600_000, 'milliseconds'), 500, 'Time that is kept after an event'),
  max_event_s: setting(
    integer(1, 3600, 'seconds'),
    60,
    'Longest part of an event; a longer event is kept in several parts',
  ),
  max_event_bytes: setting(
    integer(1 << 20, 2 ** 32, 'bytes'),
    64 << 20,
    'Largest part of an event; a larger event is kept in several parts. Signals that its rule does not watch use at most half of a part',
  ),
  events_per_minute: setting(
    integer(1, 10_000, 'events'),
    60,
    'Events of one device that may start in a minute; all devices of an application count as one device. Further events are counted, and logged once a minute',
  ),
  dir_bytes: setting(
    integer(1 << 20, 2 ** 50, 'bytes'),
    4 * 2 ** 30,
    'Size of all events on disk; beyond it the oldest are removed',
  ),
  events_max: setting(
    integer(1, 100_000, 'events'),
    10_000,
    'Number of events on disk; beyond it the oldest are removed',
  ),
})

/** Configuration of `traceback`. */
export type TracebackConfig = v.InferOutput<typeof tracebackSchema>

/** Default folder of the events, beside the store. */
export function defaultTracebackDir(environment: NodeJS.ProcessEnv = process.env): string {
  return join(userStateDir(environment), 'sonde', 'traceback')
}

/** Default configuration. */
export const tracebackDefaults: TracebackConfig = v.parse(tracebackSchema, {})
