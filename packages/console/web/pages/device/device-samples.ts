import type { LatestSeries } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import type { FrameRange } from '../../api/frame.ts'
import { type TypedSeries, useTypedSeries } from '../../api/use-typed-series.ts'
import { isSeriesOf } from '../../devices/device.ts'
import { useSecond } from '../../state/clock.ts'
import type { PageMoment } from '../use-moment.ts'

/** How often exact values are read. Rates cover the time between two readings. */
const LATEST_EVERY_MS = 5_000
/** How long before its departure a silent device is searched. Longer than the server waits before it drops a device. */
const LAST_KNOWN_MS = 900_000
/** How long after the departure the driver may still report the cause. */
const LAST_WORD_MS = 5_000

/** The range that facts are read from: the moment of the page, or the last minutes of a device that left. */
export function useLastKnownRange({ goneMs }: DeviceInfo, { range, isNow }: PageMoment): FrameRange {
  const isSettled = useSecond() > (goneMs ?? 0) + LAST_WORD_MS
  return useMemo(
    () =>
      isNow && goneMs !== undefined
        ? { kind: 'fixed', fromMs: goneMs - LAST_KNOWN_MS, toMs: goneMs + (isSettled ? LAST_WORD_MS : 0) }
        : range,
    [goneMs, isSettled, range, isNow],
  )
}

/** The given types of the node, and their latest values of the device; these are undefined before the first answer. */
export function useLatest(
  device: DeviceInfo,
  names: readonly string[],
): Omit<TypedSeries, 'series'> & { readonly data: readonly LatestSeries[] | undefined } {
  const { series, ...others } = useTypedSeries(names, LATEST_EVERY_MS)
  const data = useMemo(
    () => series?.filter(({ metric, labels }) => isSeriesOf(device, metric, labels)),
    [series, device],
  )
  return { ...others, data }
}
