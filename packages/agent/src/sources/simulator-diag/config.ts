import { integer, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'
import { diagOptions } from '../doca-telemetry-diag/config.ts'
import { simulatorOptions } from '../simulator/config.ts'

/** Options of the full-rate samples of simulated NICs in `data_sources`. */
export const simulatorDiagOptions = v.strictObject({
  ...simulatorOptions.entries,
  devices: devicesOption,
  counters: diagOptions.entries.counters,
  sample_period_us: setting(integer(10, 1_000_000, 'microseconds'), 100, 'Time between two samples of each NIC'),
  drain_ms: setting(integer(1, 1000, 'milliseconds'), 50, 'Time between two times that samples are made'),
  ring_ms: setting(
    integer(1, 600_000, 'milliseconds'),
    1000,
    'Time for which samples are kept in memory, for windows that are requested',
  ),
})

/** Parsed {@link simulatorDiagOptions}. */
export type SimulatorDiagOptions = v.InferOutput<typeof simulatorDiagOptions>
