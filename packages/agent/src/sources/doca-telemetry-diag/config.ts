import { flag, integer, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { docaEntries } from '../doca/options.ts'
import { COUNTERS, isCounterName } from './counters.ts'

const COUNTERS_MAX = 1024

const ALLOWED = `a name such as ${COUNTERS[0]?.name}, or 0x and 16 hexadecimal digits; the README of the source lists the names`

/** Options of the source of diagnostic counters in `data_sources`. */
export const diagOptions = v.strictObject({
  ...docaEntries,
  counters: setting(
    list(v.pipe(v.string(ALLOWED), v.check(isCounterName, ALLOWED)), COUNTERS_MAX, 'counters'),
    [],
    'Names or data IDs of the counters to sample. Empty: all counters with a field of their own that the device has',
  ),
  high_frequency: setting(
    flag(),
    false,
    'Whether the device samples by itself in each `sample_period_us`. Otherwise it takes one sample in each interval',
  ),
  sample_period_us: setting(
    integer(1, 4_000_000, 'microseconds'),
    100,
    'Time between two samples of the device, with `high_frequency`; a device may lengthen it',
  ),
  ring_ms: setting(
    integer(0, 600_000, 'milliseconds'),
    1000,
    'Time for which the samples of `high_frequency` stay in memory, so that a window of them can be read',
  ),
  accept_taint: setting(
    flag(),
    false,
    'Whether the source may taint the kernel, as sampling of diagnostic counters does until the next boot. Without it the source does not run',
  ),
  force_ownership: setting(
    flag(),
    false,
    'Whether the source takes the counters from another program; it never takes them from another Sonde. The other program continues with wrong values',
  ),
})

/** Options of the source of diagnostic counters after validation. */
export type DiagOptions = v.InferOutput<typeof diagOptions>
