import { useMemo } from 'react'
import type { FrameRange } from '../api/frame.ts'
import { useIncidentsOf } from '../api/hints.ts'
import { type AffectedDevices, affectedDevices } from '../devices/affected.ts'

/** The devices that open incidents affect, or that incidents of a past window affected. */
export function useAffected(window: FrameRange): AffectedDevices {
  const incidents = useIncidentsOf(window)
  return useMemo(() => affectedDevices(incidents), [incidents])
}
