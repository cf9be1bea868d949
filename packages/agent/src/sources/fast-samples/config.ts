import { integer, setting } from '@sonde/sdk/config'

/**
 * Schema of the option `sample_ms`. Unit: milliseconds. Range: 2 to 1000.
 *
 * @param help Purpose of the option for the source.
 */
export function sampleMsOption(defaultMs: number, help: string) {
  return setting(integer(2, 1000, 'milliseconds'), defaultMs, help)
}

/** Schema of the option `ring_ms`. Unit: milliseconds. Range: 100 to 60 000. Default: 10 000. */
export const ringMsOption = setting(
  integer(100, 60_000, 'milliseconds'),
  10_000,
  'Time for which samples are kept in memory, for rules and for windows that are requested',
)
