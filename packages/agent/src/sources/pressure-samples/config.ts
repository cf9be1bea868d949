import { block, choice, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { ringMsOption, sampleMsOption } from '../fast-samples/config.ts'
import { PRESSURE_RESOURCES } from '../host/pressure.ts'

/** Options of the fast samples of pressure in `data_sources`. */
export const pressureSamplesOptions = block({
  resources: setting(
    v.pipe(
      list(choice(PRESSURE_RESOURCES), PRESSURE_RESOURCES.length, 'resources'),
      v.minLength(1, 'at least one resource; leave the key out for the usual ones'),
    ),
    ['cpu', 'memory', 'io'],
    'Resources whose pressure is sampled',
  ),
  sample_ms: sampleMsOption(20, 'Time between two samples of each resource; the kernel sums up anew at every read'),
  ring_ms: ringMsOption,
})

/** Parsed {@link pressureSamplesOptions}. */
export type PressureSamplesOptions = v.InferOutput<typeof pressureSamplesOptions>
