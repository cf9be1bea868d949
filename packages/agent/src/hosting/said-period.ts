import type { SourcePeriods } from '@sonde/sdk/api'

/**
 * The declared periods for a type and device. A declaration for the type wins over a declaration for the device, and
 * both win over a declaration for everything.
 *
 * @param device Name of the device at the source; `DEVICE/PORT` for a port. Default: unknown.
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
