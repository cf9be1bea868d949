import { useMemo } from 'react'
import type { FrameRange } from '../api/frame.ts'
import { useIncidentsOf } from '../api/hints.ts'
import { type AffectedDevices, affectedDevices, type NamedDevices, nameAgain } from '../devices/affected.ts'

/** What the open incidents named: the same for all parts of the page. */
let named: NamedDevices = new Map()

/** The devices that open incidents affect, or that incidents of a past window affected. */
export function useAffected(window: FrameRange): AffectedDevices {
  const incidents = useIncidentsOf(window)
  const isLive = window.kind === 'live'
  return useMemo(() => {
    if (!isLive) return affectedDevices(incidents)
    named = nameAgain(named, incidents, Date.now())
    return affectedDevices(
      incidents.map((incident) => ({ ...incident, affected: [...(named.get(incident.id)?.keys() ?? [])] })),
    )
  }, [incidents, isLive])
}
