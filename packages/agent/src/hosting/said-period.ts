import type { SourcePeriods } from '@sonde/sdk/api'

/**
 * What a source says of the samples of a type and device. What it says of the type counts more than what it says of the
 * device, and both more than what it says of everything.
 *
 * @param device As the source calls it; `DEVICE/PORT` of a port. Default: nothing is known of it.
 */
export function saidPeriodOf(
  periods: readonly SourcePeriods[],
  { type, device = '' }: { readonly type: string; readonly device?: string },
): SourcePeriods | undefined {
  const [whole = ''] = device.split('/')
  const named = [...new Set([device, whole, ''])]
  for (const name of [type, ''])
    for (const of of named) {
      const said = periods.find((one) => one.type === name && one.device === of)
      if (said !== undefined) return said
    }
  return undefined
}

/** Between two samples as rules see them: in a ring, or as records are reported. Unit: milliseconds. */
export function everyMsOf(said: SourcePeriods, isRing: boolean): number {
  return ((isRing ? said.sampleUs : undefined) ?? said.reportUs) / 1000
}
